// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allOf,
  allow,
  anyOf,
  basic,
  deny,
  hide,
  IsAdmin,
  IsAuthenticated,
  not,
  Restify,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface Person {
  readonly name: string;
  readonly isAdmin?: boolean;
}

function nameOf({ actor }: AccessContext): string {
  return (actor as Person | null)?.name ?? '';
}

/** The rows of one's own; which column says so differs by model. */
class OwnNotes implements Permission {
  decide(question: AccessContext): Grant {
    return allow({ rows: where('owner', nameOf(question)) });
  }
}

class OwnFolders implements Permission {
  decide(question: AccessContext): Grant {
    return allow({ rows: where('keeper', nameOf(question)) });
  }
}

/** Over the relation of the row. */
class NotesOfOwnFolder implements Permission {
  decide(question: AccessContext): Grant {
    return allow({ rows: where('folder.keeper', nameOf(question)) });
  }
}

class PublicFields implements Permission {
  decide(): Grant {
    return allow({
      readable: ['id', 'title', 'folder', 'labels'],
      writable: ['id', 'title', 'folder', 'owner'],
    });
  }
}

class Nobody implements Permission {
  decide(): Denial {
    return deny();
  }
}

class Hidden implements Permission {
  decide(): Denial {
    return hide();
  }
}

@Restify({ app: 'g', permissions: [OwnFolders] })
@Entity()
class GFolder {
  @PrimaryColumn() id: number;
  @Column() keeper: string;
  @Column() code: string;
  @OneToMany(() => GNote, (note) => note.folder) notes: Relation<GNote[]>;
}

@Restify({
  app: 'g',
  permissions: [anyOf(IsAdmin, allOf(OwnNotes, PublicFields))],
  filterFields: ['title', 'owner', 'secret', 'folder', 'folder.code'],
  orderingFields: ['id', 'secret', 'folder.code'],
  searchFields: ['title', 'secret', 'folder.code'],
  ordering: ['id'],
  through: { labels: { permissions: [IsAuthenticated] } },
})
@Entity()
class GNote {
  @PrimaryColumn() id: number;
  @Column() title: string;
  @Column() owner: string;
  @Column({ default: 'x' }) secret: string;
  @ManyToOne(() => GFolder, (folder) => folder.notes, { nullable: true }) folder: Relation<GFolder> | null;
  @ManyToMany(() => GLabel, (label) => label.notes) @JoinTable() labels: Relation<GLabel[]>;
}

@Restify({ app: 'g', permissions: [] })
@Entity()
class GLabel {
  @PrimaryColumn() id: number;
  @Column() word: string;
  @ManyToMany(() => GNote, (note) => note.labels) notes: Relation<GNote[]>;
}

@Restify({ app: 'g', permissions: [NotesOfOwnFolder] })
@Entity()
class GMemo {
  @PrimaryColumn() id: number;
  @ManyToOne(() => GFolder, { nullable: true }) folder: Relation<GFolder> | null;
}

@Restify({ app: 'g', permissions: [not(OwnFolders)] })
@Entity('g_folder_of_others')
class GOther {
  @PrimaryColumn() id: number;
  @Column() keeper: string;
  @OneToMany(() => GPart, (part) => part.other) parts: Relation<GPart[]>;
}

@Restify({ app: 'g' })
@Entity()
class GPart {
  @PrimaryColumn() id: number;
  @ManyToOne(() => GOther, (other) => other.parts, { nullable: true }) other: Relation<GOther> | null;
  @ManyToOne(() => GClosed, (closed) => closed.parts, { nullable: true }) closed: Relation<GClosed> | null;
  @ManyToOne(() => GGone, (gone) => gone.parts, { nullable: true }) gone: Relation<GGone> | null;
}

/** Refuses by right beside a row condition: the condition hides all the same. */
@Restify({ app: 'g', permissions: [Nobody, OwnFolders] })
@Entity()
class GClosed {
  @PrimaryColumn() id: number;
  @Column() keeper: string;
  @OneToMany(() => GPart, (part) => part.closed) parts: Relation<GPart[]>;
}

@Restify({ app: 'g', permissions: [Hidden] })
@Entity()
class GGone {
  @PrimaryColumn() id: number;
  @OneToMany(() => GPart, (part) => part.gone) parts: Relation<GPart[]>;
}

const PEOPLE: Readonly<Record<string, Person>> = {
  ann: { name: 'ann' },
  bob: { name: 'bob' },
  root: { name: 'root', isAdmin: true },
};

function as(name: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` } };
}

onEachDatabase('grants of rows and fields', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      entities: [GFolder, GNote, GLabel, GMemo, GOther, GPart, GClosed, GGone],
      database,
      restify: { authentication: [basic((name) => PEOPLE[name])] },
    });
  });
  afterAll(() => started.close());

  beforeEach(async () => {
    const { manager } = started.dataSource;
    for (const entity of [GPart, GMemo]) await manager.deleteAll(entity);
    for (const note of await manager.find(GNote, { relations: { labels: true } }))
      await manager.save(GNote, { ...note, labels: [] });
    for (const entity of [GNote, GLabel, GFolder, GOther, GClosed, GGone]) await manager.deleteAll(entity);
    const [one, two] = await manager.save(GFolder, [
      { id: 1, keeper: 'ann', code: 'aa' },
      { id: 2, keeper: 'bob', code: 'bb' },
    ]);
    const [red] = await manager.save(GLabel, [
      { id: 1, word: 'red' },
      { id: 2, word: 'blue' },
    ]);
    await manager.save(GNote, [
      { id: 1, title: 'first', owner: 'ann', secret: 's1', folder: one ?? null, labels: red ? [red] : [] },
      { id: 2, title: 'second', owner: 'ann', secret: 's2', folder: two ?? null },
      { id: 3, title: 'third', owner: 'bob', secret: 's3', folder: one ?? null, labels: red ? [red] : [] },
    ]);
    await manager.save(GMemo, [
      { id: 1, folder: one ?? null },
      { id: 2, folder: two ?? null },
    ]);
  });

  const ids = async (path: string, who: string): Promise<unknown> => {
    const { json, status } = await started.client.get(`/rest/v1/g/${path}`, as(who));
    return status === 200 && Array.isArray(json) ? json.map((each) => (each as { id: number }).id) : status;
  };

  describe('rows', () => {
    test('are those of the caller in lists, and over a relation', async () => {
      expect(await ids('gnote/', 'ann')).toEqual([1, 2]);
      expect(await ids('gnote/', 'bob')).toEqual([3]);
      expect(await ids('gnote/', 'root')).toEqual([1, 2, 3]);
      expect(await ids('gmemo/', 'ann')).toEqual([1]);
    });

    test.each(['GET', 'PUT', 'PATCH', 'DELETE'])(
      'hide an object of others as 404 from %s, and nothing changes',
      async (method) => {
        const answer = await started.client.send(method, '/rest/v1/g/gnote/3/', {
          ...as('ann'),
          body: { title: 'mine', owner: 'ann' },
        });
        expect([answer.status, answer.json]).toEqual([404, { detail: 'Not found.' }]);
        expect(await started.dataSource.manager.findOneBy(GNote, { id: 3 })).toMatchObject({
          title: 'third',
          owner: 'bob',
        });
      },
    );

    test('must hold for what a create writes: nothing stays of one that does not', async () => {
      const answer = await started.client.post(
        '/rest/v1/g/gnote/',
        { id: 9, title: 'theirs', owner: 'bob' },
        as('ann'),
      );
      expect([answer.status, answer.json]).toEqual([
        403,
        { detail: 'You do not have permission to perform this action.' },
      ]);
      expect(await started.dataSource.manager.countBy(GNote, { id: 9 })).toBe(0);
      expect(
        (await started.client.post('/rest/v1/g/gnote/', { id: 9, title: 'mine', owner: 'ann' }, as('ann')))
          .status,
      ).toBe(201);
    });

    test('must hold after an update as before', async () => {
      const answer = await started.client.patch('/rest/v1/g/gnote/1/', { owner: 'bob' }, as('ann'));
      expect(answer.status).toBe(403);
      expect(await started.dataSource.manager.findOneBy(GNote, { id: 1 })).toMatchObject({ owner: 'ann' });
    });

    test('hide the parent of a nested list, and leave the child its own', async () => {
      expect(await ids('gfolder/1/notes/', 'ann')).toEqual([1]);
      expect(await ids('gfolder/2/notes/', 'ann')).toBe(404);
      expect(await ids('gfolder/2/notes/', 'bob')).toEqual([]);
    });

    test('hide the parent of a through list, from both sides', async () => {
      expect(await ids('gnote/1/labels/', 'ann')).toEqual([1]);
      expect(await ids('gnote/3/labels/', 'ann')).toBe(404);
      expect((await started.client.post('/rest/v1/g/gnote/3/labels/', { glabel: 2 }, as('ann'))).status).toBe(
        404,
      );
      expect((await started.client.delete('/rest/v1/g/gnote/3/labels/1/', as('ann'))).status).toBe(404);
      expect((await started.client.delete('/rest/v1/g/gnote/3/labels/1/', as('bob'))).status).toBe(204);
    });

    test('hide the target of a written key: there is no such object', async () => {
      const answer = await started.client.patch('/rest/v1/g/gnote/1/', { folder: 2 }, as('ann'));
      expect([answer.status, answer.json]).toEqual([
        400,
        { folder: ['Invalid pk "2" - object does not exist.'] },
      ]);
      const through = await started.client.post('/rest/v1/g/glabel/2/notes/', { gnote: 3 }, as('ann'));
      expect([through.status, through.json]).toEqual([
        400,
        { gnote: ['Invalid pk "3" - object does not exist.'] },
      ]);
    });

    test('limit a filter and a search over a relation to related rows that the caller may see', async () => {
      expect(await ids('gnote/?folder__code=aa', 'ann')).toEqual([1]);
      expect(await ids('gnote/?folder__code=bb', 'ann')).toEqual([]);
      expect(await ids('gnote/?search=bb', 'ann')).toEqual([]);
      expect(await ids('gnote/?search=aa', 'ann')).toEqual([1]);
    });

    test('drop an order over a relation whose rows are limited', async () => {
      expect(await ids('gnote/?ordering=-folder__code', 'ann')).toEqual([1, 2]);
    });

    test('of a permission that is turned round are the others', async () => {
      await started.dataSource.manager.save(GOther, [
        { id: 1, keeper: 'ann' },
        { id: 2, keeper: 'bob' },
      ]);
      expect(await ids('gother/', 'ann')).toEqual([2]);
      expect(await ids('gother/1/parts/', 'ann')).toBe(404);
      expect(await ids('gother/2/parts/', 'ann')).toEqual([]);
    });

    test('hide a parent whose own endpoints refuse, and a refusal alone hides nothing', async () => {
      await started.dataSource.manager.save(GClosed, [
        { id: 1, keeper: 'ann' },
        { id: 2, keeper: 'bob' },
      ]);
      expect(await ids('gclosed/', 'ann')).toBe(403);
      expect(await ids('gclosed/1/parts/', 'ann')).toEqual([]);
      expect(await ids('gclosed/2/parts/', 'ann')).toBe(404);
      expect((await started.client.post('/rest/v1/g/gpart/', { id: 1, closed: 1 }, as('ann'))).status).toBe(
        201,
      );
      expect((await started.client.post('/rest/v1/g/gpart/', { id: 2, closed: 2 }, as('ann'))).json).toEqual({
        closed: ['Invalid pk "2" - object does not exist.'],
      });
    });

    test('are none for a model that is hidden altogether', async () => {
      await started.dataSource.manager.save(GGone, { id: 1 });
      expect(await ids('ggone/', 'ann')).toBe(404);
      expect(await ids('ggone/1/parts/', 'ann')).toBe(404);
      expect((await started.client.post('/rest/v1/g/gpart/', { id: 3, gone: 1 }, as('ann'))).json).toEqual({
        gone: ['Invalid pk "1" - object does not exist.'],
      });
    });
  });

  describe('fields', () => {
    test('that may not be read are not shown, filtered, searched or ordered by', async () => {
      const { client } = started;
      expect((await client.get('/rest/v1/g/gnote/1/', as('ann'))).json).toEqual({
        id: 1,
        title: 'first',
        folder: 1,
        labels: '/rest/v1/g/gnote/1/labels/',
      });
      expect((await client.get('/rest/v1/g/gnote/1/', as('root'))).json).toMatchObject({
        owner: 'ann',
        secret: 's1',
      });
      expect(await ids('gnote/?secret=s2', 'ann')).toEqual([1, 2]);
      expect(await ids('gnote/?secret=s2', 'root')).toEqual([2]);
      expect(await ids('gnote/?search=s2', 'ann')).toEqual([]);
      expect(await ids('gnote/?ordering=-secret', 'ann')).toEqual([1, 2]);
      expect(await ids('gnote/?ordering=-secret', 'root')).toEqual([3, 2, 1]);
    });

    test('that may not be written are read-only', async () => {
      const answer = await started.client.patch(
        '/rest/v1/g/gnote/1/',
        { title: 'new', secret: 'told' },
        as('ann'),
      );
      expect(answer.status).toBe(200);
      expect(await started.dataSource.manager.findOneBy(GNote, { id: 1 })).toMatchObject({
        title: 'new',
        secret: 's1',
      });
    });

    test('are described in OPTIONS with the rights of the caller', async () => {
      const post = async (who: string): Promise<unknown> =>
        Object.keys(
          (
            (await started.client.send('OPTIONS', '/rest/v1/g/gnote/', as(who))).json as {
              actions: { POST: object };
            }
          ).actions.POST,
        );
      expect(await post('ann')).toEqual(['id', 'title', 'owner', 'folder', 'labels']);
      expect(await post('root')).toEqual(['id', 'title', 'owner', 'secret', 'folder', 'labels']);
    });
  });

  describe('authentication', () => {
    test('is 401 for an anonymous caller where the permission needs an actor', async () => {
      const answer = await started.client.get('/rest/v1/g/gnote/1/labels/');
      expect([answer.status, answer.json, answer.headers['www-authenticate']]).toEqual([
        401,
        { detail: 'Authentication credentials were not provided.' },
        'Basic realm="api"',
      ]);
    });

    test.each([
      ['wrong', `Basic ${Buffer.from('eve:pw').toString('base64')}`],
      ['empty', 'Basic'],
      ['malformed', 'Basic %%%'],
      ['without a colon', `basic ${Buffer.from('ann').toString('base64')}`],
    ])('refuses %s credentials on an open endpoint too', async (_how, authorization) => {
      const answer = await started.client.get('/rest/v1/g/glabel/', { headers: { authorization } });
      expect([answer.status, answer.json, answer.headers['www-authenticate']]).toEqual([
        401,
        { detail: 'Invalid username/password.' },
        'Basic realm="api"',
      ]);
    });

    test('ignores the credentials of another scheme', async () => {
      expect(
        (await started.client.get('/rest/v1/g/glabel/', { headers: { authorization: 'Bearer abc' } })).status,
      ).toBe(200);
    });
  });
});
