// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { allow, AllowAny, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import {
  BeforeRemove,
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  VersionColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, ObjectLiteral, Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import type { Client } from '../support/client.js';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Callers with a name have rows of their own. */
class OwnRows implements Permission {
  decide({ actor }: AccessContext): Grant {
    const name = (actor as { readonly name: string } | null)?.name;
    return name === undefined ? allow() : allow({ rows: where('owner', name) });
  }
}

class OfOpenHouses implements Permission {
  decide(): Grant {
    return allow({ rows: where('house.owner', 'open') });
  }
}

const WARES = 2000;

@Restify({ app: 'bd', bulk: { max: WARES }, permissions: [OwnRows], filterFields: { id: ['gte'] } })
@Entity('bd_ware')
class Ware {
  @PrimaryColumn() id: number;
  @Column({ length: 20, default: 'all' }) owner: string;
}

@Restify('bd')
@Entity('bd_line')
class Line {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Ware, { onDelete: 'RESTRICT' }) ware: Relation<Ware>;
}

@Restify({ app: 'bd', bulk: { max: WARES } })
@Entity('bd_cell')
class Cell {
  @PrimaryColumn() row: number;
  @PrimaryColumn({ type: 'bigint' }) col: string;
}

@Restify({ app: 'bd', bulk: true })
@Entity('bd_word')
class Word {
  @PrimaryColumn({ length: 20 }) text: string;
}

@Restify({ app: 'bd', bulk: true, permissions: [OfOpenHouses] })
@Entity('bd_door')
class Door {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Ware) house: Relation<Ware>;
}

@Restify({ app: 'bd', bulk: true, filterFields: { id: ['gte'] } })
@Entity('bd_note')
class Note {
  @PrimaryColumn() id: number;
  @VersionColumn() version: number;
  @DeleteDateColumn() deleted: Date | null;
}

const toLower = { to: (text: string): string => text.toLowerCase(), from: (text: string): string => text };

@Restify({ app: 'bd', bulk: true })
@Entity('bd_tag')
class Tag {
  @PrimaryColumn({ length: 20, transformer: toLower }) name: string;
  @DeleteDateColumn() deleted: Date | null;
}

@Restify({ app: 'bd', bulk: true })
@Entity('bd_heard')
class Heard {
  static removed: number[] = [];
  @PrimaryColumn() id: number;
  @BeforeRemove() hear(): void {
    Heard.removed.push(this.id);
  }
}

@Restify({ app: 'bd', bulk: true })
@Entity('bd_folder')
class Folder {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Folder, { nullable: true, onDelete: 'RESTRICT' }) parent: Relation<Folder> | null;
}

/** Its rows restrict what its group deletes with itself. */
@Restify({ app: 'bd', bulk: true })
@Entity('bd_group')
class Group {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Member, { nullable: true, onDelete: 'RESTRICT' }) head: Relation<Member> | null;
}

@Restify('bd')
@Entity('bd_member')
class Member {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Group, { onDelete: 'CASCADE' }) group: Relation<Group>;
}

/** Its threads are deleted with one bead, and restrict another one. */
@Restify({ app: 'bd', bulk: true })
@Entity('bd_bead')
class Bead {
  @PrimaryColumn() id: number;
}

@Restify('bd')
@Entity('bd_thread')
class Thread {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Bead, { onDelete: 'CASCADE' }) first: Relation<Bead>;
  @ManyToOne(() => Bead, { onDelete: 'RESTRICT' }) last: Relation<Bead>;
}

/** TypeORM does not know the foreign keys to it. */
@Restify({ app: 'bd', bulk: true })
@Entity('bd_chest')
class Chest {
  @PrimaryColumn() id: number;
}

@Restify({ app: 'bd', bulk: true })
@Entity('bd_trigger')
class Triggered {
  @PrimaryColumn() id: number;
}

@Restify({ app: 'bd', through: { wares: { bulk: true, permissions: [AllowAny] } } })
@Entity('bd_person')
class Person {
  @PrimaryColumn() id: number;
  @ManyToMany(() => Ware) @JoinTable({ name: 'bd_person_ware' }) wares: Relation<Ware[]>;
}

const ENTITIES = [
  Ware,
  Line,
  Cell,
  Word,
  Door,
  Note,
  Tag,
  Heard,
  Folder,
  Group,
  Member,
  Bead,
  Thread,
  Chest,
  Triggered,
  Person,
] as const;

const FOREIGN_TABLES = [
  'CREATE TABLE bd_seal (id INTEGER PRIMARY KEY, chest INTEGER, FOREIGN KEY (chest) REFERENCES bd_chest (id) ON DELETE CASCADE)',
  'CREATE TABLE bd_wax (id INTEGER PRIMARY KEY, seal INTEGER, chest INTEGER, FOREIGN KEY (seal) REFERENCES bd_seal (id) ON DELETE CASCADE, FOREIGN KEY (chest) REFERENCES bd_chest (id) ON DELETE RESTRICT)',
];

const TRIGGERS: Readonly<Record<TestDatabase['name'], readonly string[]>> = {
  sqlite: [
    `CREATE TRIGGER bd_trigger_d BEFORE DELETE ON bd_trigger BEGIN INSERT INTO bd_word VALUES ('t' || OLD.id); END`,
  ],
  postgres: [
    `CREATE FUNCTION bd_trigger_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO bd_word VALUES ('t' || OLD.id); RETURN OLD; END $$`,
    `CREATE TRIGGER bd_trigger_d BEFORE DELETE ON bd_trigger FOR EACH ROW EXECUTE FUNCTION bd_trigger_f()`,
  ],
  mariadb: [
    `CREATE TRIGGER bd_trigger_d BEFORE DELETE ON bd_trigger FOR EACH ROW INSERT INTO bd_word VALUES (CONCAT('t', OLD.id))`,
  ],
};

function named(app: INestApplication): void {
  app.use((request: { headers: Record<string, string>; user?: object }, _: unknown, next: () => void) => {
    const name = request.headers['x-name'];
    if (name !== undefined) request.user = { name };
    next();
  });
}

const asEve = { headers: { 'x-name': 'eve' } };
const url = (model: string): string => `/rest/v1/bd/${model}/`;
const missing = (...keys: readonly string[]): object => ({
  status: 400,
  json: { keys: keys.map((key) => `Invalid pk "${key}" - object does not exist.`) },
});
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

onEachDatabase('a bulk DELETE', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  let client: Client;

  beforeAll(async () => {
    const dataSource = { logging: true, logger: log };
    started = await startApp({ entities: [...ENTITIES], database, dataSource, configure: named });
    client = started.client;
    // The first transaction asks for the settings of the session.
    await client.delete(`${url('heard')}?keys=1,2`);
    for (const statement of [...TRIGGERS[database.name], ...FOREIGN_TABLES])
      await started.dataSource.query(statement);
  });
  beforeEach(async () => {
    const { manager } = started.dataSource;
    await manager.query('DELETE FROM bd_person_ware');
    await manager.createQueryBuilder().update(Group).set({ head: null }).execute();
    await manager.createQueryBuilder().update(Folder).set({ parent: null }).execute();
    for (const entity of [Door, Line, Member, Thread, ...ENTITIES])
      await manager.createQueryBuilder().delete().from(entity).execute();
  });
  afterAll(() => started.close());

  const insert = (entity: new () => ObjectLiteral, rows: readonly object[]): Promise<unknown> =>
    started.dataSource
      .createQueryBuilder()
      .insert()
      .into(entity)
      .values([...rows])
      .updateEntity(false)
      .execute();
  const wares = (count: number, owner = 'all'): Promise<unknown> =>
    insert(
      Ware,
      numbers(count).map((id) => ({ id, owner })),
    );
  const countOf = (entity: new () => ObjectLiteral): Promise<number> =>
    started.dataSource.getRepository(entity).count();

  /** The statements of the transactions of a DELETE, by their first word, and its answer. */
  async function remove(
    path: string,
    options?: object,
  ): Promise<{ readonly words: string; readonly answer: object; readonly failed: number }> {
    log.clear();
    const answer = await client.delete(path, options);
    const words = log.statements.map((statement) => statement.split(' ')[0] ?? '');
    const begins = words.findIndex((word) => word === 'BEGIN' || word === 'START');
    const within = words.slice(begins + 1).filter((word) => /^(SELECT|DELETE|UPDATE|ROLLBACK)$/.test(word));
    return { words: within.join(' '), answer, failed: log.failed.length };
  }

  const removed = (words: string): object => ({ words, answer: { status: 204, text: '' }, failed: 0 });

  describe('by statements for many rows', () => {
    test('of a list of keys, and of filters', async () => {
      await wares(1200);
      const keys = [...numbers(1200)].reverse().join(',');
      const six = 'SELECT SELECT SELECT DELETE DELETE DELETE';
      expect(await remove(`${url('ware')}?keys=${keys}`)).toMatchObject(removed(six));
      expect(await countOf(Ware)).toBe(0);
      await wares(1200);
      expect(await remove(`${url('ware')}?id__gte=3`)).toMatchObject(removed(six));
      expect(await countOf(Ware)).toBe(2);
      expect(await remove(`${url('ware')}?keys=1,2,1&id__gte=1`)).toMatchObject(removed('SELECT DELETE'));
      expect(await countOf(Ware)).toBe(0);
    }, 60_000);

    test('of composite keys, and of texts, exactly', async () => {
      await insert(
        Cell,
        [1, 2].flatMap((row) => ['1', '2', '9223372036854775807'].map((col) => ({ row, col }))),
      );
      const cells = '1,1;2,2;1,9223372036854775807';
      expect(await remove(`${url('cell')}?keys=${cells}`)).toMatchObject(removed('SELECT DELETE'));
      expect((await client.get(url('cell'))).text).toBe(
        '[{"row":1,"col":"2"},{"row":2,"col":"1"},{"row":2,"col":"9223372036854775807"}]',
      );
      await insert(
        Cell,
        numbers(600).map((col) => ({ row: 3, col: String(col) })),
      );
      const many = numbers(600).map((col) => `3,${col}`);
      expect(await remove(`${url('cell')}?keys=${many.join(';')}`)).toMatchObject(
        removed('SELECT SELECT DELETE DELETE'),
      );
      await insert(Word, [{ text: 'a' }, { text: 'B' }, { text: "c'" }, { text: 'd' }]);
      expect(await remove(`${url('word')}?keys=A,d`)).toMatchObject({ answer: missing('A') });
      expect(await remove(`${url('word')}?keys=a,c'`)).toMatchObject(removed('SELECT DELETE'));
      expect((await client.get(url('word'))).text).toBe('[{"text":"B"},{"text":"d"}]');
    });

    test('of pairs of a join table: those of the parent alone', async () => {
      await wares(3);
      await insert(Person, [{ id: 1 }, { id: 2 }]);
      for (const person of [1, 2])
        for (const ware of [1, 2, 3]) await client.post(`${url('person')}${person}/wares/`, { ware });
      const deletion = await remove(`${url('person')}1/wares/?keys=1,3`);
      expect(deletion).toMatchObject({ answer: { status: 204 }, failed: 0 });
      expect(deletion.words.match(/DELETE/g)).toEqual(['DELETE']);
      expect((await client.get(`${url('person')}1/wares/`)).json).toHaveLength(1);
      expect((await client.get(`${url('person')}2/wares/`)).json).toHaveLength(3);
    });

    test('that are deleted softly', async () => {
      await insert(
        Note,
        numbers(4).map((id) => ({ id })),
      );
      expect(await remove(`${url('note')}?keys=1,3`)).toMatchObject(removed('SELECT UPDATE'));
      expect(await remove(`${url('note')}?keys=3,4`)).toMatchObject({ answer: missing('3') });
      expect(await remove(`${url('note')}?id__gte=3`)).toMatchObject({ answer: { status: 204 } });
      const notes = await started.dataSource
        .getRepository(Note)
        .find({ withDeleted: true, order: { id: 1 } });
      expect(notes.map(({ version, deleted }) => [version, deleted !== null])).toEqual([
        [2, true],
        [1, false],
        [2, true],
        [2, true],
      ]);
    });

    test('whose grant leads over a relation', async () => {
      await insert(Ware, [
        { id: 1, owner: 'open' },
        { id: 2, owner: 'shut' },
      ]);
      await insert(
        Door,
        numbers(6).map((id) => ({ id, house: { id: id === 6 ? 2 : 1 } })),
      );
      expect(await remove(`${url('door')}?keys=5,6,987`)).toMatchObject({ answer: missing('6', '987') });
      expect(await countOf(Door)).toBe(6);
      // MariaDB cannot lock the rows of one table of a join alone.
      const locks = { mariadb: 'SELECT SELECT SELECT', postgres: 'SELECT SELECT', sqlite: 'SELECT' };
      expect(await remove(`${url('door')}?keys=2,5,1`)).toMatchObject(
        removed(`${locks[database.name]} DELETE`),
      );
      expect(await countOf(Door)).toBe(3);
    });
  });

  test('reports each row that is missing or hidden by a grant, and deletes none', async () => {
    await wares(3);
    await insert(Ware, [
      { id: 11, owner: 'eve' },
      { id: 12, owner: 'eve' },
    ]);
    expect(await remove(`${url('ware')}?keys=11,2,12,987,3`, asEve)).toMatchObject({
      answer: missing('2', '987', '3'),
    });
    expect(await countOf(Ware)).toBe(5);
    expect(await remove(`${url('ware')}?id__gte=1`, asEve)).toMatchObject(removed('SELECT DELETE'));
    expect(await countOf(Ware)).toBe(3);
  });

  test('that a foreign key restricts in the middle of the list deletes none', async () => {
    await wares(5);
    await insert(Line, [{ id: 1, ware: { id: 3 } }]);
    const { answer } = await remove(`${url('ware')}?keys=1,2,3,4,5`);
    expect(answer).toMatchObject({
      status: 409,
      json: { detail: 'This object cannot be deleted: objects of "bd.line" still refer to it.' },
    });
    expect(await countOf(Ware)).toBe(5);
  });

  describe('one by one', () => {
    test('where a listener of the entity runs', async () => {
      await insert(Heard, [{ id: 1 }, { id: 2 }, { id: 3 }]);
      Heard.removed = [];
      expect((await client.delete(`${url('heard')}?keys=3,1`)).status).toBe(204);
      expect(Heard.removed).toEqual([3, 1]);
    });

    test('where a subscriber runs that was added after the start', async () => {
      const seen: unknown[] = [];
      const subscriber: EntitySubscriberInterface<Ware> = {
        listenTo: () => Ware,
        beforeRemove: ({ entity }) => void seen.push(entity?.id),
      };
      await wares(6);
      expect(await remove(`${url('ware')}?keys=5,6`)).toMatchObject(removed('SELECT DELETE'));
      const { subscribers } = started.dataSource;
      subscribers.push(subscriber);
      try {
        expect((await client.delete(`${url('ware')}?keys=2,1`)).status).toBe(204);
      } finally {
        subscribers.splice(subscribers.indexOf(subscriber), 1);
      }
      expect(seen).toEqual([2, 1]);
      expect(await remove(`${url('ware')}?keys=3,4`)).toMatchObject(removed('SELECT DELETE'));
    });

    test('where a trigger of the table runs', async () => {
      await insert(Triggered, [{ id: 1 }, { id: 2 }]);
      const { words, answer } = await remove(`${url('triggered')}?keys=2,1`);
      expect(answer).toMatchObject({ status: 204 });
      expect(words.match(/DELETE/g)).toEqual(['DELETE', 'DELETE']);
      expect((await client.get(url('word'))).text).toBe('[{"text":"t1"},{"text":"t2"}]');
    });

    test('where rows refer to each other: in the order of the list', async () => {
      await insert(Folder, [{ id: 1 }]);
      await insert(Folder, [{ id: 2, parent: { id: 1 } }]);
      expect((await client.delete(`${url('folder')}?keys=1,2`)).status).toBe(409);
      expect((await client.delete(`${url('folder')}?keys=2,1`)).status).toBe(204);
      await insert(Group, [{ id: 1 }]);
      await insert(Member, [{ id: 1, group: { id: 1 } }]);
      await insert(Group, [{ id: 2, head: { id: 1 } }]);
      expect((await client.delete(`${url('group')}?keys=1,2`)).status).toBe(409);
      expect((await client.delete(`${url('group')}?keys=2,1`)).status).toBe(204);
      expect(await countOf(Member)).toBe(0);
    });

    test('where rows that are deleted with one restrict another: in the order of the list', async () => {
      await insert(Bead, [{ id: 1 }, { id: 2 }]);
      await insert(Thread, [{ id: 1, first: { id: 1 }, last: { id: 2 } }]);
      expect((await client.delete(`${url('bead')}?keys=2,1`)).status).toBe(409);
      expect((await client.delete(`${url('bead')}?keys=1,2`)).status).toBe(204);
      expect(await countOf(Thread)).toBe(0);
    });

    test('where the foreign keys that do so are not those of TypeORM', async () => {
      await insert(Chest, [{ id: 1 }, { id: 2 }]);
      await started.dataSource.query('INSERT INTO bd_seal VALUES (1, 1)');
      await started.dataSource.query('INSERT INTO bd_wax VALUES (1, 1, 2)');
      expect((await client.delete(`${url('chest')}?keys=2,1`)).status).toBe(409);
      expect((await client.delete(`${url('chest')}?keys=1,2`)).status).toBe(204);
      expect(await started.dataSource.query('SELECT * FROM bd_wax')).toEqual([]);
    });
  });

  // The key of MariaDB takes them for equal.
  if (database.name !== 'mariadb')
    test('deletes no other row than that of a stored key which its transformer does not make', async () => {
      await started.dataSource.query(`INSERT INTO bd_tag (name) VALUES ('AB'), ('ab'), ('c')`);
      expect(await remove(`${url('tag')}?keys=AB,c`)).toMatchObject({ answer: missing('AB') });
      expect(await countOf(Tag)).toBe(3);
      expect(await remove(`${url('tag')}?keys=ab,c`)).toMatchObject({ answer: { status: 204 } });
      expect(await started.dataSource.query('SELECT name FROM bd_tag WHERE deleted IS NULL')).toEqual([
        { name: 'AB' },
      ]);
    });

  if (database.name !== 'sqlite') {
    /** Runs a request while another transaction is open, which is committed once the request waits or has been answered. */
    async function beside<Result>(
      statement: string,
      request: () => Promise<Result>,
      waits: boolean,
    ): Promise<Result> {
      const runner = started.dataSource.createQueryRunner();
      try {
        await runner.startTransaction();
        await runner.query(statement);
        const answer = request();
        if (waits) await new Promise((resolve) => setTimeout(resolve, 300));
        else await answer;
        await runner.commitTransaction();
        return await answer;
      } finally {
        await runner.release();
      }
    }

    test('beside another one finds what that has left', async () => {
      await wares(6);
      const of = (keys: string) => (): Promise<unknown> => client.delete(`${url('ware')}?${keys}`);
      expect(await beside('DELETE FROM bd_ware WHERE id = 2', of('keys=1,2,3'), true)).toMatchObject(
        missing('2'),
      );
      expect(await countOf(Ware)).toBe(5);
      expect(await beside('DELETE FROM bd_ware WHERE id = 3', of('id__gte=1'), true)).toMatchObject({
        status: 204,
      });
      expect(await countOf(Ware)).toBe(0);
    });

    test('does not delete a row that another transaction takes away from the caller', async () => {
      await wares(3, 'eve');
      const taken = `UPDATE bd_ware SET owner = 'bob' WHERE id = 2`;
      const byKeys = (): Promise<unknown> => client.delete(`${url('ware')}?keys=1,2`, asEve);
      expect(await beside(taken, byKeys, true)).toMatchObject(missing('2'));
      const byFilter = (): Promise<unknown> => client.delete(`${url('ware')}?id__gte=1`, asEve);
      expect(await beside(taken.replace('2', '3'), byFilter, true)).toMatchObject({ status: 204 });
      expect((await client.get(url('ware'))).text).toBe('[{"id":2,"owner":"bob"},{"id":3,"owner":"bob"}]');
    });

    // MariaDB locks the related rows, too.
    if (database.name === 'postgres')
      test('does not delete a row that another transaction hides by a related one', async () => {
        await insert(Ware, [{ id: 1, owner: 'open' }]);
        await insert(
          Door,
          numbers(3).map((id) => ({ id, house: { id: 1 } })),
        );
        const hiding = `UPDATE bd_door SET id = id WHERE id = 2; UPDATE bd_ware SET owner = 'shut' WHERE id = 1`;
        const many = (): Promise<unknown> => client.delete(`${url('door')}?keys=1,2`);
        expect(await beside(hiding, many, true)).toMatchObject(missing('1', '2'));
        await started.dataSource.query(`UPDATE bd_ware SET owner = 'open'`);
        const one = (): Promise<unknown> => client.delete(`${url('door')}2/`);
        expect(await beside(hiding, one, true)).toMatchObject({ status: 404 });
        expect(await countOf(Door)).toBe(3);
      });

    test('waits for no row that it does not delete', async () => {
      await wares(12);
      const locked = `UPDATE bd_ware SET owner = 'eve' WHERE id IN (5, 12)`;
      const request = (): Promise<unknown> => client.delete(`${url('ware')}?keys=1,2,3,4,6,7,8,9,10,11`);
      expect(await beside(locked, request, false)).toMatchObject({ status: 204 });
      expect(await countOf(Ware)).toBe(2);
      await insert(
        Note,
        numbers(12).map((id) => ({ id })),
      );
      const notes = (): Promise<unknown> => client.delete(`${url('note')}?keys=1,2,3,4,6,7,8,9,10,11`);
      expect(await beside('UPDATE bd_note SET version = 3 WHERE id IN (5, 12)', notes, false)).toMatchObject({
        status: 204,
      });
      expect(await countOf(Note)).toBe(2);
    });

    test('of the same rows in other orders, at once, is answered without a deadlock', async () => {
      await wares(400);
      log.clear();
      const keys = numbers(400);
      const answers = await Promise.all(
        [keys, [...keys].reverse()].map((each) => client.delete(`${url('ware')}?keys=${each.join(',')}`)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 400]);
      expect(log.failed).toEqual([]);
    });
  }
});
