// @tags db
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allOf,
  allow,
  AllowAny,
  anyOf,
  basic,
  deny,
  hide,
  IsAdmin,
  IsAuthenticated,
  not,
  Restify,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Grant,
  Permission,
  PermissionExpression,
  Denial,
  RestifyModuleOptions,
} from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { noFilter } from '../support/no-filter.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface Person {
  readonly name: string;
  readonly isAdmin?: boolean;
}

const PEOPLE: Readonly<Record<string, Person>> = {
  ann: { name: 'ann' },
  eve: { name: 'eve' },
  root: { name: 'root', isAdmin: true },
};

function personOf({ actor }: AccessContext): Person | null {
  return actor as Person | null;
}

/** One's own rows, for those who have any; the others are refused, and the rows are hidden from them. */
class Own implements Permission {
  decide(question: AccessContext): Grant | Denial {
    const person = personOf(question);
    if (person?.name === 'root') return allow();
    return person?.name === 'ann' ? allow({ rows: where('owner', 'ann') }) : this.refusal();
  }

  protected refusal(): Denial {
    return deny({ hides: 'rows' });
  }
}

class OwnInherited extends Own {}

class OwnBarely extends Own {
  protected override refusal(): Denial {
    return deny();
  }
}

class OwnOpenly extends Own {
  protected override refusal(): Denial {
    return deny({ hides: 'nothing' });
  }
}

class OwnHidden extends Own {
  protected override refusal(): Denial {
    return hide();
  }
}

/** Believes that somebody has asked before who is there. */
class OwnTrusting implements Permission {
  decide(question: AccessContext): Grant {
    const { name, isAdmin } = personOf(question) as Person;
    return isAdmin === true ? allow() : allow({ rows: where('owner', name) });
  }
}

class OwnTrustingLater implements Permission {
  async decide(question: AccessContext): Promise<Grant> {
    return Promise.resolve().then(() => new OwnTrusting().decide(question));
  }
}

/** Of an author whom no type holds back. */
class Odd implements Permission {
  decide(question: AccessContext): Grant | Denial {
    return personOf(question) ? new Own().decide(question) : ({ kind: 'no' } as never);
  }
}

type Who = 'nobody' | 'eve' | 'ann' | 'root';

const WHO: readonly Who[] = ['nobody', 'eve', 'ann', 'root'];

/** The status of the model's own list, rows that may be named from elsewhere, and rows that are granted, for each of WHO. Row 1 is Ann's, row 2 is not. */
interface Expected {
  readonly own: readonly number[];
  readonly named: readonly (readonly number[])[];
  readonly granted: readonly (readonly number[])[];
}

const HIDDEN: Expected = {
  own: [401, 403, 200, 200],
  named: [[], [], [1], [1, 2]],
  granted: [[], [], [1], [1, 2]],
};
const BARE: Expected = { ...HIDDEN, named: [[1, 2], [1, 2], [1], [1, 2]] };
/** Eve is let in, and has no row. */
const LET_IN: Expected = { ...HIDDEN, own: [401, 200, 200, 200] };

interface Case {
  readonly permissions: readonly PermissionExpression[];
  readonly expected: Expected;
  readonly restify?: RestifyModuleOptions;
}

const CASES: Readonly<Record<string, Case>> = {
  alone: { permissions: [Own], expected: HIDDEN },
  'by a subclass': { permissions: [OwnInherited], expected: HIDDEN },
  'as if there were no rows': {
    permissions: [OwnHidden],
    expected: { ...HIDDEN, own: [404, 404, 200, 200] },
  },
  'behind a bare refusal': { permissions: [IsAuthenticated, Own], expected: HIDDEN },
  'before a bare refusal': { permissions: [Own, IsAuthenticated], expected: HIDDEN },
  'under allOf': { permissions: [allOf(IsAuthenticated, Own)], expected: HIDDEN },
  'under anyOf': { permissions: [anyOf(IsAdmin, Own)], expected: HIDDEN },
  'under anyOf with a hidden one': { permissions: [anyOf(OwnHidden, Own)], expected: HIDDEN },
  'under anyOf with a bare one': { permissions: [anyOf(Own, OwnBarely)], expected: HIDDEN },
  'under anyOf beside a list that refuses barely': {
    permissions: [anyOf(allOf(IsAuthenticated, IsAdmin), Own)],
    expected: HIDDEN,
  },
  'under anyOf of lists': {
    permissions: [anyOf(allOf(IsAuthenticated, IsAdmin), allOf(IsAuthenticated, Own))],
    expected: HIDDEN,
  },
  'by a class that throws behind a refusal': {
    permissions: [IsAuthenticated, OwnTrusting],
    expected: LET_IN,
  },
  'by a class that rejects behind a refusal': {
    permissions: [allOf(IsAuthenticated, anyOf(IsAdmin, OwnTrustingLater))],
    expected: LET_IN,
  },
  'by an invalid answer, behind a refusal': { permissions: [IsAuthenticated, Odd], expected: HIDDEN },
  'of a prefix whose refusals hide': {
    permissions: [OwnBarely],
    restify: { refusalsHide: 'rows' },
    expected: HIDDEN,
  },
  'of such a prefix, by a class of ours': {
    permissions: [IsAdmin],
    restify: { refusalsHide: 'rows' },
    expected: { own: [401, 403, 403, 200], named: [[], [], [], [1, 2]], granted: [[], [], [], [1, 2]] },
  },
  'of such a prefix, where it is said otherwise': {
    permissions: [OwnOpenly],
    restify: { refusalsHide: 'rows' },
    expected: BARE,
  },
  'not at all by a bare refusal': { permissions: [OwnBarely], expected: BARE },
  'not at all by bare refusals alone': { permissions: [anyOf(IsAdmin, OwnBarely)], expected: BARE },
  'not at all by a no that was turned into one': {
    permissions: [not(AllowAny)],
    expected: {
      own: [401, 403, 403, 403],
      named: [
        [1, 2],
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      granted: [[], [], [], []],
    },
  },
  'not at all where the refusal is turned round': {
    permissions: [not(Own)],
    expected: {
      own: [200, 200, 200, 403],
      named: [[1, 2], [1, 2], [2], [1, 2]],
      granted: [[1, 2], [1, 2], [2], []],
    },
  },
};

/** Documents of an owner, what stands below them, and what is joined to them. */
function modelsWith(permissions: readonly PermissionExpression[]) {
  @Restify({ app: 'r', permissions, through: { tags: { permissions: [AllowAny] } } })
  @Entity('r_doc')
  class Doc {
    @PrimaryColumn() id: number;
    @Column() owner: string;
    @OneToMany(() => Note, (note) => note.doc) notes: Relation<Note[]>;
    @ManyToMany(() => Tag, (tag) => tag.docs) @JoinTable({ name: 'r_doc_tags' }) tags: Relation<Tag[]>;
  }

  @Restify({
    app: 'r',
    permissions: [AllowAny],
    filterFields: ['id', 'doc.owner'],
    shape: true,
    expandable: ['doc'],
  })
  @Entity('r_note')
  class Note {
    @PrimaryGeneratedColumn() id: number;
    @ManyToOne(() => Doc, (doc) => doc.notes, { nullable: true }) doc: Relation<Doc> | null;
  }

  /** Shows its relation, and the column of it. */
  @Restify({ app: 'r', permissions: [AllowAny] })
  @Entity('r_slip')
  class Slip {
    @PrimaryGeneratedColumn() id: number;
    @Column({ type: 'int', nullable: true }) docId: number | null;
    @ManyToOne(() => Doc, { nullable: true }) @JoinColumn({ name: 'docId' }) doc: Relation<Doc> | null;
  }

  @Restify({ app: 'r', permissions: [AllowAny] })
  @Entity('r_tag')
  class Tag {
    @PrimaryColumn() id: number;
    @ManyToMany(() => Doc, (doc) => doc.tags) docs: Relation<Doc[]>;
  }
  return { Doc, Note, Slip, Tag };
}

function headersOf(who: Who): { headers: Record<string, string> } {
  return {
    headers:
      who === 'nobody' ? {} : { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` },
  };
}

/** What is asked of a database: no rows, some, and all. */
const ON_EACH: readonly string[] = [
  'behind a bare refusal',
  'under anyOf beside a list that refuses barely',
  'not at all where the refusal is turned round',
];

onEachDatabase('S28 what a refusal hides', (database) => {
  describe.each(
    Object.entries(CASES).filter(([name]) => database.name === 'sqlite' || ON_EACH.includes(name)),
  )('%s', (_name, { permissions, expected, restify }) => {
    const { Doc, Note, Slip, Tag } = modelsWith(permissions);
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        entities: [Doc, Note, Slip, Tag],
        database,
        restify: { authentication: [basic((name) => PEOPLE[name])], ...restify },
      });
    });
    afterAll(() => started.close());

    beforeEach(async () => {
      const { manager } = started.dataSource;
      for (const doc of await manager.find(Doc)) await manager.save(Doc, { id: doc.id, tags: [] });
      for (const entity of [Note, Slip, Tag, Doc]) await manager.deleteAll(entity);
      const docs = await manager.save(Doc, [
        { id: 1, owner: 'ann' },
        { id: 2, owner: 'bob' },
      ]);
      await manager.save(Tag, [{ id: 1, docs }, { id: 2 }]);
      for (const doc of docs) await manager.save(Note, { doc });
    });

    const url = (path: string): string => `/rest/v1/r/${path}`;

    describe.each(WHO.map((who, index) => [who, index] as const))('from %s', (who, index) => {
      const named = new Set(expected.named[index]);
      const granted = new Set(expected.granted[index]);
      const as = headersOf(who);

      test('at its own URLs', async () => {
        const list = await started.client.get(url('doc/'), as);
        expect(list.status).toBe(expected.own[index]);
        if (list.status === 200)
          expect((list.json as { id: number }[]).map(({ id }) => id)).toEqual([...granted]);
      });

      test.each([1, 2])('as the parent of nested URLs: row %i', async (doc) => {
        const status = named.has(doc) ? 200 : 404;
        for (const path of ['notes/', 'tags/', 'tags/1/'])
          expect([path, (await started.client.get(url(`doc/${doc}/${path}`), as)).status]).toEqual([
            path,
            status,
          ]);
        expect((await started.client.post(url(`doc/${doc}/tags/`), { tag: 2 }, as)).status).toBe(
          named.has(doc) ? 201 : 404,
        );
        expect((await started.client.patch(url(`doc/${doc}/tags/1/`), {}, as)).status).toBe(status);
        expect((await started.client.delete(url(`doc/${doc}/tags/1/`), as)).status).toBe(
          named.has(doc) ? 204 : 404,
        );
        const left = await started.dataSource.manager.findOneOrFail(Doc, {
          where: { id: doc },
          relations: { tags: true },
        });
        expect(left.tags.map(({ id }) => id)).toEqual([named.has(doc) ? 2 : 1]);
      });

      test.each([1, 2])('as a key in a body: row %i', async (doc) => {
        const none = `Invalid pk "${doc}" - object does not exist.`;
        for (const [path, field] of [
          ['note/', 'doc'],
          ['slip/', 'doc'],
          ['tag/2/docs/', 'doc'],
        ] as const) {
          const answer = await started.client.post(url(path), { [field]: doc }, as);
          expect([path, answer.status, answer.json]).toEqual(
            named.has(doc)
              ? [path, 201, expect.objectContaining({ [field]: doc })]
              : [path, 400, { [field]: [none] }],
          );
        }
        // The column of the relation by its own name: never a way round it.
        await started.client.post(url('slip/'), { docId: doc }, as);
        if (!named.has(doc)) expect(await started.dataSource.manager.countBy(Slip, { docId: doc })).toBe(0);
      });

      test.each([1, 2])('in an expansion and behind a filter, which go by grants: row %i', async (doc) => {
        const expanded = (await started.client.get(url('note/?expand=doc&ordering=id'), as)).json as {
          doc: unknown;
        }[];
        expect(expanded[doc - 1]?.doc).toEqual(
          granted.has(doc) ? expect.objectContaining({ id: doc, owner: doc === 1 ? 'ann' : 'bob' }) : doc,
        );
        const owner = doc === 1 ? 'ann' : 'bob';
        const { json: filtered } = await started.client.get(url(`note/?doc__owner=${owner}`), as);
        // Where there is no grant at all, there is no such filter.
        const isAsked = expected.own[index] === 200;
        if (isAsked) expect(filtered).toHaveLength(Number(granted.has(doc)));
        else expect(filtered).toEqual(noFilter('doc__owner'));
      });

      test.each([1, 2])('from the application itself: row %i', async (doc) => {
        const resources = started.app.get(RestifyResources);
        const actor = PEOPLE[who] ?? null;
        const nested = (): Promise<unknown> => resources.of(Doc).as(actor).nested(doc, 'notes').list();
        const made = (): Promise<unknown> => resources.of(Note).as(actor).create({ doc });
        if (named.has(doc)) {
          expect(await nested()).toHaveLength(1);
          expect(await made()).toMatchObject({ doc });
        } else {
          await expect(nested()).rejects.toMatchObject({ response: { status: 404 } });
          await expect(made()).rejects.toMatchObject({ response: { status: 400 } });
        }
      });
    });
  });
});

describe('S28 what is logged of refusals', () => {
  const lines: string[] = [];
  const logger = {
    log: () => undefined,
    warn: (text: string) => lines.push(`warn ${text}`),
    error: (error: unknown, text: string) => lines.push(`error ${text}: ${String(error)}`),
  };
  beforeEach(() => {
    lines.length = 0;
  });

  async function withApp(
    permissions: readonly PermissionExpression[],
    use: (started: StartedApp) => Promise<void>,
    restify: RestifyModuleOptions = {},
  ): Promise<void> {
    const started = await startApp({
      entities: Object.values(modelsWith(permissions)),
      restify: { authentication: [basic((name) => PEOPLE[name])], ...restify },
      nest: { logger },
    });
    try {
      await use(started);
    } finally {
      await started.close();
    }
  }

  const ask = (started: StartedApp, method: string, who: Who): Promise<unknown> =>
    started.client.send(method, '/rest/v1/r/doc/', headersOf(who));

  test('one warning names a class that has granted rows and refuses barely, with the repair', async () => {
    await withApp([OwnBarely], async (started) => {
      lines.length = 0;
      await ask(started, 'GET', 'nobody');
      await ask(started, 'GET', 'root');
      expect(lines).toEqual([]);
      for (const who of ['ann', 'nobody', 'ann', 'nobody'] as const) await ask(started, 'GET', who);
      expect(lines).toEqual([
        "warn OwnBarely grants some callers some rows, and refuses others by deny(), which hides no row: they can name every row as the parent in a nested URL and as a key in a body. Return deny({ hides: 'rows' }), or deny({ hides: 'nothing' }) where this is intended. RestifyModule.forRoot(prefix, { refusalsHide: 'rows' }) makes it the default of a prefix.",
      ]);
    });
  });

  test.each<[name: string, permissions: readonly PermissionExpression[], restify: RestifyModuleOptions]>([
    ['hides rows', [Own], {}],
    ['says that it hides nothing', [OwnOpenly], {}],
    ['hides all', [OwnHidden], {}],
    ['refuses below a prefix whose refusals hide', [OwnBarely], { refusalsHide: 'rows' }],
    ['is one of ours, beside row conditions', [anyOf(IsAdmin, Own)], {}],
  ])('none names a class that %s', async (_name, permissions, restify) => {
    await withApp(
      permissions,
      async (started) => {
        lines.length = 0;
        for (const who of WHO) for (const method of ['GET', 'POST']) await ask(started, method, who);
        expect(lines).toEqual([]);
      },
      restify,
    );
  });

  test('what a class throws behind a refusal is an error in the log, and the answer is none', async () => {
    await withApp([IsAuthenticated, OwnTrusting], async (started) => {
      lines.length = 0;
      expect((await started.client.get('/rest/v1/r/doc/1/notes/')).status).toBe(404);
      expect(lines).toEqual([
        expect.stringMatching(
          /^error A permission of r\.doc failed behind one that denies GET, and every row counts as hidden .*: TypeError/,
        ),
      ]);
    });
  });
});
