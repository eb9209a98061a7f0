// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, basic, deny, IdempotencyRecord, Restify, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer, RequestOptions } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

type Rights = Readonly<Record<string, Grant | undefined>>;

/** What each caller may do with pairs, by method; nothing more. Changed by a test. */
let pairsOf: Readonly<Record<string, Rights>> = {};

function nameOf({ actor }: AccessContext): string {
  return (actor as { readonly name?: string } | null)?.name ?? '';
}

class PairGrants implements Permission {
  decide(context: AccessContext): Grant | Denial {
    const granted = pairsOf[nameOf(context)];
    return granted === undefined ? allow() : (granted[context.method] ?? deny());
  }
}

/** The fields that GET shows everybody but admins; undefined for all. Changed by a test. */
let shown: readonly string[] | undefined;

/** Everybody sees and changes the folders and sheets with its own name, and admins all. */
class Own implements Permission {
  decide(context: AccessContext): Grant {
    const name = nameOf(context);
    if (name === 'admin') return allow();
    const rows = where('owner', 'in', [name, 'all']);
    return shown && context.method === 'GET' ? allow({ rows, readable: shown }) : allow({ rows });
  }
}

@Restify({
  app: 'keysafe',
  relatedKeys: ['sheets'],
  through: { sheets: { permissions: [PairGrants] } },
  permissions: [Own],
  conditional: true,
  idempotency: true,
  bulk: { upsert: ['code'] },
})
@Entity('keysafe_folder')
class Folder {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ length: 10 }) owner: string;
  @ManyToMany(() => Sheet, (sheet) => sheet.folders)
  @JoinTable({ name: 'keysafe_pairs', joinColumn: { name: 'folder' }, inverseJoinColumn: { name: 'sheet' } })
  sheets: Relation<Sheet[]>;
}

@Restify({ app: 'keysafe', relatedKeys: ['folders'], permissions: [Own] })
@Entity('keysafe_sheet')
class Sheet {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 10 }) owner: string;
  @ManyToMany(() => Folder, (folder) => folder.sheets) folders: Relation<Folder[]>;
}

const FOLDERS = '/rest/v1/keysafe/folder/';
const SHEETS = '/rest/v1/keysafe/sheet/';

onEachDatabase('attacks on related keys', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Folder, Sheet, IdempotencyRecord],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    pairsOf = {};
    shown = undefined;
    const { dataSource } = started;
    await dataSource.query('DELETE FROM keysafe_pairs');
    for (const entity of [Folder, Sheet])
      await dataSource.createQueryBuilder().delete().from(entity).execute();
    await dataSource.getRepository(Sheet).insert([
      { id: 1, owner: 'ann' },
      { id: 2, owner: 'bob' },
      { id: 3, owner: 'all' },
    ]);
    await dataSource.getRepository(Folder).insert([
      { id: 1, code: 'a', owner: 'ann' },
      { id: 2, code: 'b', owner: 'bob' },
      { id: 3, code: 'c', owner: 'all' },
    ]);
    await dataSource.query('INSERT INTO keysafe_pairs (folder, sheet) VALUES (1, 1), (1, 2), (2, 2), (3, 2)');
  });

  const as = (name: string, headers: Record<string, string> = {}): RequestOptions => ({
    headers: { Authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}`, ...headers },
  });
  const stored = async (): Promise<string[]> => {
    const rows = await started.dataSource.query<{ a: number; b: number }[]>(
      'SELECT folder AS a, sheet AS b FROM keysafe_pairs ORDER BY 1, 2',
    );
    return rows.map(({ a, b }) => `${a}-${b}`);
  };
  const BEFORE = ['1-1', '1-2', '2-2', '3-2'];
  const outcome = ({ status, json }: Answer): unknown => [status, json];

  test('S7: pairs of an object that the caller may not change are out of reach, by every way in', async () => {
    const { client } = started;
    const ann = as('ann');
    const attempts = [
      await client.patch(`${FOLDERS}2/`, { sheets: [1] }, ann),
      await client.put(`${FOLDERS}2/`, { code: 'b', owner: 'ann', sheets: [] }, ann),
      await client.patch(FOLDERS, [{ id: 2, sheets: [1] }], ann),
      await client.patch(`${FOLDERS}?keys=2`, { sheets: { add: [1] } }, ann),
      await client.post(`${FOLDERS}?upsert=true`, { id: 2, code: 'b', owner: 'ann', sheets: [1] }, ann),
      await client.patch(`${SHEETS}1/`, { folders: [2] }, ann),
      await client.patch(`${SHEETS}2/`, { folders: [] }, ann),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([404, 404, 400, 400, 400, 400, 404]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S7: a right that the pairs do not grant is not granted by the object, by every way in', async () => {
    const { client } = started;
    pairsOf = { ann: { GET: allow(), POST: undefined, DELETE: allow() } };
    const ann = as('ann');
    const attempts = [
      await client.patch(`${FOLDERS}1/`, { sheets: [3] }, ann),
      await client.patch(FOLDERS, [{ id: 1, sheets: [3] }], ann),
      await client.patch(`${FOLDERS}?keys=1`, { sheets: [3] }, ann),
      await client.post(FOLDERS, { id: 9, code: 'z', owner: 'ann', sheets: [3] }, ann),
      await client.post(`${FOLDERS}?upsert=true`, { id: 8, code: 'a', owner: 'ann', sheets: [3] }, ann),
      await client.patch(`${SHEETS}3/`, { folders: [1] }, ann),
    ];
    // Read-only, as any other field that a grant does not let the caller write.
    expect(attempts.map(({ status }) => status)).toEqual([200, 200, 200, 201, 200, 200]);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S7: keys that the object does not show the caller are not written, by every way in', async () => {
    const { client } = started;
    shown = ['id', 'owner'];
    const ann = as('ann');
    const attempts = [
      await client.patch(`${FOLDERS}1/`, { sheets: [3] }, ann),
      await client.patch(`${FOLDERS}1/`, { sheets: { remove: [1] } }, ann),
      await client.patch(FOLDERS, [{ id: 1, sheets: [3] }], ann),
      await client.patch(`${FOLDERS}?keys=1`, { sheets: [] }, ann),
      await client.post(FOLDERS, { id: 9, code: 'z', owner: 'ann', sheets: [3] }, ann),
      await client.post(`${FOLDERS}?upsert=true`, { id: 8, code: 'a', owner: 'ann', sheets: [3] }, ann),
      await client.patch(`${SHEETS}3/`, { folders: [1] }, ann),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201, 200, 200]);
    expect(attempts.map(({ text }) => /sheets|folders/.test(text))).not.toContain(true);
    expect(await stored()).toEqual(BEFORE);
  });

  test('S11: a hidden object and none are the same key, in a list and below a verb', async () => {
    const { client } = started;
    for (const [sheets, at] of [
      [
        (key: number) => [1, key],
        (key: number) => ({ sheets: [`Item 1: Invalid pk "${key}" - object does not exist.`] }),
      ],
      [
        (key: number) => ({ add: [key] }),
        (key: number) => ({ sheets: { add: [`Item 0: Invalid pk "${key}" - object does not exist.`] } }),
      ],
    ] as const) {
      await started.dataSource.query('DELETE FROM keysafe_pairs WHERE sheet = 2');
      for (const key of [2, 99])
        expect(outcome(await client.patch(`${FOLDERS}1/`, { sheets: sheets(key) }, as('ann')))).toEqual([
          400,
          at(key),
        ]);
    }
    expect(await stored()).toEqual(['1-1']);
  });

  test('S24: neither set nor remove reveals whether a hidden pair exists, and the error of add names no key', async () => {
    const { client } = started;
    pairsOf = { ann: { GET: allow({ rows: where('sheet', 'ne', 3) }), POST: allow(), DELETE: allow() } };
    const answers: unknown[] = [];
    for (const exists of [false, true]) {
      await started.dataSource.query('DELETE FROM keysafe_pairs');
      if (exists) await started.dataSource.query('INSERT INTO keysafe_pairs (folder, sheet) VALUES (1, 3)');
      answers.push([
        outcome(await client.patch(`${FOLDERS}1/`, { sheets: { remove: [3] } }, as('ann'))),
        outcome(await client.patch(`${FOLDERS}1/`, { sheets: [1] }, as('ann'))),
        outcome(await client.get(`${FOLDERS}1/`, as('ann'))),
      ]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(await stored()).toEqual(['1-1', '1-3']);
    expect(outcome(await client.patch(`${FOLDERS}1/`, { sheets: { add: [3] } }, as('ann')))).toEqual([
      400,
      { sheets: ['An object with these values exists already.'] },
    ]);
  });

  test.each<[unknown]>([
    [[{ sheet: 3, folder: 2 }]],
    [[[3]]],
    [[null]],
    [[true]],
    [{ add: [{ id: 3 }] }],
    [JSON.parse('{"__proto__": [3]}')],
    [{ constructor: [3] }],
    [{ toString: 1 }],
    [{ add: { length: 1, 0: 3 } }],
    [['1'.repeat(5000)]],
    [['3\u0000']],
    [Array.from({ length: 1001 }, (_, key) => key)],
    ['/rest/v1/keysafe/folder/1/folders/'],
    ['/rest/v1/keysafe/sheet/1/sheets/'],
  ])('S8, S10, S15: what is no list of keys is 400, and nothing is stored (%#)', async (sheets) => {
    const { client } = started;
    expect((await client.patch(`${FOLDERS}1/`, { sheets }, as('ann'))).status).toBe(400);
    expect((await client.post(FOLDERS, { id: 9, code: 'z', owner: 'ann', sheets }, as('ann'))).status).toBe(
      400,
    );
    expect(await stored()).toEqual(BEFORE);
  });

  test('S8: many keys of many objects are 400 before anything is looked up', async () => {
    const { client } = started;
    const keys = Array.from({ length: 1000 }, (_, key) => key + 1000);
    const rows = Array.from({ length: 11 }, (_, at) => ({
      id: at + 100,
      code: `n${at}`,
      owner: 'ann',
      sheets: keys,
    }));
    expect(await client.post(FOLDERS, rows, as('ann'))).toMatchObject({
      status: 400,
      json: { non_field_errors: ['Ensure that all objects together have no more than 10000 related keys.'] },
    });
  });

  test('S8: more than 1000 keys are an error of a read, and are left out of a write that does not name them', async () => {
    const { client, dataSource } = started;
    const ids = Array.from({ length: 1001 }, (_, at) => at + 1000);
    await dataSource.getRepository(Sheet).insert(ids.map((id) => ({ id, owner: 'all' })));
    await dataSource.query(
      `INSERT INTO keysafe_pairs (folder, sheet) VALUES ${ids.map((id) => `(3, ${id})`).join(', ')}`,
    );
    const read = await client.get(`${FOLDERS}3/`, as('ann'));
    expect(outcome(read)).toEqual([
      400,
      { sheets: ['There are more than 1000 keys. Leave the field out, or read the pairs at their own URL.'] },
    ]);
    expect((await client.get(FOLDERS, as('ann'))).status).toBe(400);
    expect(outcome(await client.patch(`${FOLDERS}3/`, { code: 'cc' }, as('ann')))).toEqual([
      200,
      { id: 3, code: 'cc', owner: 'all' },
    ]);
    expect(outcome(await client.patch(`${FOLDERS}3/`, { sheets: { add: [3] } }, as('ann')))).toEqual([
      400,
      { sheets: ['Ensure this field has no more than 1000 elements.'] },
    ]);
    expect(await client.patch(`${FOLDERS}3/`, { sheets: { remove: [1000] } }, as('ann'))).toMatchObject({
      status: 200,
      json: { id: 3 },
    });
    expect(((await client.get(`${FOLDERS}3/`, as('ann'))).json as { sheets: unknown[] }).sheets).toHaveLength(
      1000,
    );
  });

  test('S12: an entity tag and a replay are those of the keys that the caller sees', async () => {
    const { client } = started;
    const tag = async (name: string): Promise<string> =>
      String((await client.get(`${FOLDERS}3/`, as(name))).headers.etag);
    expect((await client.get(`${FOLDERS}3/`, as('ann'))).json).toMatchObject({ sheets: [] });
    expect((await client.get(`${FOLDERS}3/`, as('bob'))).json).toMatchObject({ sheets: [2] });
    const [ann, bob] = [await tag('ann'), await tag('bob')];
    expect(ann).not.toBe(bob);
    // A change that ann does not see leaves her tag.
    await client.patch(`${FOLDERS}3/`, { sheets: { remove: [2] } }, as('bob'));
    expect(await tag('ann')).toBe(ann);
    expect((await client.patch(`${FOLDERS}3/`, { sheets: [3] }, as('bob', { 'If-Match': bob }))).status).toBe(
      412,
    );
    const once = { 'Idempotency-Key': 'keys' };
    const body = { id: 7, code: 'once', owner: 'all', sheets: [1, 3] };
    expect(await client.post(FOLDERS, body, as('ann', once))).toMatchObject({
      status: 201,
      json: { sheets: [1, 3] },
    });
    pairsOf = { ann: { GET: allow({ rows: where('sheet', 'ne', 1) }), POST: allow(), DELETE: allow() } };
    const replayed = await client.post(FOLDERS, body, as('ann', once));
    expect(replayed.headers['idempotency-replayed']).toBe('true');
    expect(replayed).toMatchObject({ status: 201, json: { sheets: [3] } });
    pairsOf = { ann: { GET: undefined, POST: allow(), DELETE: allow() } };
    expect((await client.post(FOLDERS, body, as('ann', once))).json).toEqual({
      id: 7,
      code: 'once',
      owner: 'all',
    });
  });

  test('S2: the keys cannot be filtered, searched or ordered by, unless the model declares it', async () => {
    const { client } = started;
    for (const query of ['sheets=2', 'ordering=sheets', 'search=2'])
      expect((await client.get(`${FOLDERS}?${query}`, as('admin'))).json).toHaveLength(
        query === 'search=2' ? 0 : 3,
      );
  });
});
