// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { restify } from 'nestjs-restify';
import type { ErrorListener } from 'nestjs-restify';
import {
  AfterInsert,
  AfterUpdate,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { noSuchPk, seen } from './nested-answers.js';

const DEFERRED = 'INITIALLY DEFERRED';

/** Not served: keys of it are not looked up before a write. */
@Entity('dc_place')
class DcPlace {
  @PrimaryColumn() id: number;
}

/** Written by statements of the adapter. */
@Entity('dc_plain')
@Unique('dc_plain_code', ['code'], { deferrable: DEFERRED })
class DcPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) code: string;
  @Column({ type: 'int', nullable: true }) place: number | null;
  @ManyToOne(() => DcPlace, { nullable: true, deferrable: DEFERRED })
  @JoinColumn({ name: 'place' })
  related: Relation<DcPlace> | null;
}

/** Written by TypeORM. */
@Entity('dc_heard')
@Unique('dc_heard_code', ['code'], { deferrable: DEFERRED })
class DcHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) code: string;
  @Column({ type: 'int', nullable: true }) place: number | null;
  @ManyToOne(() => DcPlace, { nullable: true, deferrable: DEFERRED })
  @JoinColumn({ name: 'place' })
  related: Relation<DcPlace> | null;

  @AfterInsert()
  @AfterUpdate()
  hear(): void {
    this.isHeard = true;
  }
  isHeard?: boolean;
}

@Entity('dc_part')
class DcPart {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => DcPlain, { nullable: true, deferrable: DEFERRED }) plain: Relation<DcPlain> | null;
  @ManyToOne(() => DcHeard, { nullable: true, deferrable: DEFERRED }) heard: Relation<DcHeard> | null;

  static meanwhile: (() => Promise<unknown>) | undefined;
  @AfterInsert()
  async wait(): Promise<void> {
    const { meanwhile } = DcPart;
    DcPart.meanwhile = undefined;
    await meanwhile?.();
  }
}

/** What triggers write. */
@Entity('dc_audit')
@Unique('dc_audit_code', ['code'], { deferrable: DEFERRED })
class DcAudit {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) code: string;
  @Column({ type: 'int', nullable: true }) place: number | null;
  @ManyToOne(() => DcPlace, { nullable: true, deferrable: DEFERRED })
  @JoinColumn({ name: 'place' })
  related: Relation<DcPlace> | null;
}

/** Without any foreign key, written as the two others. */
@Entity('dc_bare')
class DcBare {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) code: string;
}
@Entity('dc_told')
class DcTold {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) code: string;

  @AfterInsert()
  @AfterUpdate()
  hear(): void {
    this.isHeard = true;
  }
  isHeard?: boolean;
}

for (const entity of [DcPlain, DcHeard]) restify<DcPlain>(entity, { app: 'dc', bulk: { upsert: ['code'] } });
restify<DcPart>(DcPart, { app: 'dc', bulk: true });
for (const entity of [DcBare, DcTold]) restify<DcBare>(entity, { app: 'dc', bulk: true });
const ENTITIES: readonly Type[] = [DcPlace, DcPlain, DcHeard, DcPart, DcAudit, DcBare, DcTold];

const MODELS = ['plain', 'heard'] as const;
const urlOf = (model: string): string => `/rest/v1/dc/dc${model}/`;
const FAILED = [500, { detail: 'A server error occurred.' }];
const BUSY = [503, { detail: 'The service is temporarily unavailable. Try again later.' }];
const NO_RELATED = { non_field_errors: ['A related object does not exist.'] };
const EXISTS = { non_field_errors: ['An object with these values exists already.'] };
const BROKEN = { non_field_errors: ['These values break a rule of the database.'] };
const restrictedBy = (change: string, who: string): readonly unknown[] => [
  409,
  { detail: `This object cannot be ${change}: ${who} still refer to it.` },
];

let told: unknown[] = [];
class Listener implements ErrorListener {
  onError(error: unknown): void {
    told.push(error);
  }
}

onEachDatabase(
  'a constraint that the database checks at the end of the transaction',
  (database) => {
    const isPostgres = database.name === 'postgres';
    let started: StartedApp;
    let client: StartedApp['client'];
    const run = (sql: string): Promise<unknown> => started.dataSource.query(sql);
    const codesOf = async (model: string): Promise<readonly string[]> => {
      const { json } = await client.get(urlOf(model));
      return (json as { code: string }[]).map(({ code }) => code);
    };
    const add = async (model: string, code: string): Promise<number> => {
      const { status, json } = await client.post(urlOf(model), { code });
      expect(status).toBe(201);
      return (json as { id: number }).id;
    };

    beforeAll(async () => {
      started = await startApp({
        entities: [...ENTITIES],
        database,
        providers: [Listener],
        restify: { onError: Listener },
        compare: false,
      });
      client = started.client;
      await run('INSERT INTO dc_place (id) VALUES (1)');
    });
    beforeEach(async () => {
      for (const table of ['part', 'plain', 'heard', 'bare', 'told', 'audit'])
        await run(`DELETE FROM dc_${table}`);
      told = [];
    });
    afterAll(() => started.close());

    describe.each(MODELS)('in writes of %s', (model) => {
      const url = urlOf(model);

      test('names the key of a single write', async () => {
        const id = await add(model, 'a');
        const refused = [400, { place: noSuchPk('9') }];
        expect(seen(await client.post(url, { code: 'b', place: 9 }))).toEqual(refused);
        expect(seen(await client.put(`${url}${id}/`, { code: 'b', place: 9 }))).toEqual(refused);
        expect(seen(await client.patch(`${url}${id}/`, { place: 9 }))).toEqual(refused);
        expect((await client.patch(`${url}${id}/`, { place: 1 })).status).toBe(200);
        expect(await codesOf(model)).toEqual(['a']);
      });

      test('names no object of a list', async () => {
        const id = await add(model, 'a');
        const items = [{ code: 'b', place: 9 }, { code: 'c', place: 1 }, { code: 'd' }];
        expect(seen(await client.post(url, items))).toEqual([400, NO_RELATED]);
        expect(seen(await client.post(`${url}?upsert=true`, items))).toEqual([400, NO_RELATED]);
        const other = await add(model, 'z');
        expect(
          seen(
            await client.patch(url, [
              { id, place: 9 },
              { id: other, place: 1 },
            ]),
          ),
        ).toEqual([400, NO_RELATED]);
        expect(seen(await client.patch(`${url}?keys=${id},${other}`, { place: 9 }))).toEqual([
          400,
          NO_RELATED,
        ]);
        expect(await codesOf(model)).toEqual(['a', 'z']);
      });

      test('names the only object of a list', async () => {
        expect(seen(await client.post(url, [{ code: 'b', place: 9 }]))).toEqual([
          400,
          [{ place: noSuchPk('9') }],
        ]);
      });

      test('restricts deletions, and the model that refers is named', async () => {
        const ids = [await add(model, 'a'), await add(model, 'b'), await add(model, 'c')];
        expect((await client.post(urlOf('part'), { [model]: ids[1] })).status).toBe(201);
        const refused = restrictedBy('deleted', 'objects of "dc.dcpart"');
        expect(seen(await client.delete(`${url}${ids[1]}/`))).toEqual(refused);
        expect(seen(await client.delete(`${url}?keys=${ids.join()}`))).toEqual(refused);
        expect((await client.delete(`${url}?keys=${ids[0]},${ids[2]}`)).status).toBe(204);
        expect(await codesOf(model)).toEqual(['b']);
        expect(told).toEqual([]);
      });

      if (isPostgres)
        test('names the objects of a list whose related ones were deleted meanwhile', async () => {
          const [kept, gone] = [await add(model, 'a'), await add(model, 'b')];
          DcPart.meanwhile = () => run(`DELETE FROM dc_${model} WHERE id = ${gone}`);
          expect(
            seen(
              await client.post(
                urlOf('part'),
                [kept, gone, kept].map((id) => ({ [model]: id })),
              ),
            ),
          ).toEqual([400, [{}, { [model]: noSuchPk(String(gone)) }, {}]]);
        });

      if (isPostgres)
        test('names the unique field of a single write, and no object of a list', async () => {
          const [first, second] = [await add(model, 'a'), await add(model, 'b')];
          const refused = [400, { code: ['This field must be unique.'] }];
          expect(seen(await client.post(url, { code: 'a' }))).toEqual(refused);
          expect(seen(await client.patch(`${url}${second}/`, { code: 'a' }))).toEqual(refused);
          expect(seen(await client.post(url, [{ code: 'a' }]))).toEqual([400, [refused[1]]]);
          expect(seen(await client.post(url, [{ code: 'a' }, { code: 'c' }]))).toEqual([400, EXISTS]);
          expect(seen(await client.post(url, [{ code: 'c' }, { code: 'c' }, { code: 'd' }]))).toEqual([
            400,
            EXISTS,
          ]);
          expect(
            seen(
              await client.patch(url, [
                { id: first, code: 'b' },
                { id: second, place: 1 },
              ]),
            ),
          ).toEqual([400, EXISTS]);
          expect(await codesOf(model)).toEqual(['a', 'b']);
        });

      if (isPostgres)
        test('lets a list exchange unique values', async () => {
          const [first, second] = [await add(model, 'a'), await add(model, 'b')];
          const swapped = [
            { id: first, code: 'b' },
            { id: second, code: 'a' },
          ];
          expect((await client.patch(url, swapped)).json).toMatchObject(swapped);
        });

      if (isPostgres)
        test('is retried after a conflict, five attempts in all', async () => {
          await run('CREATE SEQUENCE dc_tries');
          await run(
            `CREATE FUNCTION dc_conflict() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF nextval('dc_tries') < TG_ARGV[0]::int THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF; RETURN NULL; END $f$`,
          );
          try {
            const [id, removed, selected] = [
              await add(model, 'a'),
              await add(model, 'y'),
              await add(model, 'z'),
            ];
            for (const [tries, ok] of [
              [9999, false],
              [3, true],
            ] as const) {
              await run(
                `CREATE CONSTRAINT TRIGGER dc_conflicts AFTER INSERT OR UPDATE OR DELETE ON dc_${model} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dc_conflict(${tries})`,
              );
              const check = async (answer: Promise<Parameters<typeof seen>[0]>): Promise<void> => {
                if (ok) expect((await answer).status).toBeLessThan(300);
                else expect(seen(await answer)).toEqual(BUSY);
                await run('ALTER SEQUENCE dc_tries RESTART');
              };
              await check(client.post(url, { code: 'b' }));
              await check(client.patch(`${url}${id}/`, { code: 'c' }));
              await check(client.post(url, [{ code: 'd' }, { code: 'e' }]));
              await check(client.patch(url, [{ id, code: 'f' }]));
              await check(client.delete(`${url}${removed}/`));
              await check(client.delete(`${url}?keys=${selected}`));
              await run(`DROP TRIGGER dc_conflicts ON dc_${model}`);
            }
          } finally {
            await run('DROP FUNCTION dc_conflict CASCADE');
            await run('DROP SEQUENCE dc_tries');
          }
        });
    });

    if (isPostgres)
      describe.each(MODELS)('raised by a trigger of %s', (model) => {
        const url = urlOf(model);

        test('is a rule of the database', async () => {
          await run(
            `CREATE FUNCTION dc_raise() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF (CASE TG_OP WHEN 'DELETE' THEN OLD.code ELSE NEW.code END) = 'bad' THEN RAISE EXCEPTION 'Secret 7'; END IF; RETURN NULL; END $f$`,
          );
          await run(
            `CREATE CONSTRAINT TRIGGER dc_raises AFTER INSERT OR UPDATE OR DELETE ON dc_${model} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dc_raise()`,
          );
          try {
            const id = await add(model, 'a');
            const other = await add(model, 'b');
            expect(seen(await client.post(url, { code: 'bad' }))).toEqual([400, BROKEN]);
            expect(seen(await client.post(url, [{ code: 'bad' }, { code: 'c' }]))).toEqual([400, BROKEN]);
            expect(seen(await client.patch(`${url}${id}/`, { code: 'bad' }))).toEqual([400, BROKEN]);
            await run(`ALTER TABLE dc_${model} DISABLE TRIGGER dc_raises`);
            await run(`UPDATE dc_${model} SET code = 'bad' WHERE id = ${id}`);
            await run(`ALTER TABLE dc_${model} ENABLE TRIGGER dc_raises`);
            const kept = { non_field_errors: ['A rule of the database forbids this deletion.'] };
            expect(seen(await client.delete(`${url}${id}/`))).toEqual([400, kept]);
            expect(seen(await client.delete(`${url}?keys=${id},${other}`))).toEqual([400, kept]);
            expect(told).toEqual([]);
          } finally {
            await run('DROP FUNCTION dc_raise CASCADE');
          }
        });
      });

    describe.each(['bare', 'told'])('of a table that a trigger of %s writes', (model) => {
      const url = urlOf(model);
      const id = `dc_write_${model}`;
      const body = (row: string): string =>
        `INSERT INTO dc_audit (code, place) VALUES (${row}.code, CASE ${row}.code WHEN 'bad' THEN 9 ELSE 1 END)`;
      beforeAll(async () => {
        if (isPostgres) {
          await run(
            `CREATE FUNCTION ${id}() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF TG_OP = 'DELETE' THEN ${body('OLD')}; ELSE ${body('NEW')}; END IF; RETURN NULL; END $f$`,
          );
          await run(
            `CREATE TRIGGER ${id} AFTER INSERT OR UPDATE OR DELETE ON dc_${model} FOR EACH ROW EXECUTE FUNCTION ${id}()`,
          );
        } else
          for (const event of ['INSERT', 'UPDATE', 'DELETE'])
            await run(
              `CREATE TRIGGER ${id}_${event} AFTER ${event} ON dc_${model} BEGIN ${body(event === 'DELETE' ? 'OLD' : 'NEW')}; END`,
            );
      });

      afterAll(async () => {
        if (isPostgres) await run(`DROP FUNCTION ${id} CASCADE`);
        else for (const event of ['INSERT', 'UPDATE', 'DELETE']) await run(`DROP TRIGGER ${id}_${event}`);
      });

      test('is an error of the server, logged once', async () => {
        const key = await add(model, 'a');
        const check = async (answer: Promise<Parameters<typeof seen>[0]>): Promise<void> => {
          told = [];
          expect(seen(await answer)).toEqual(FAILED);
          expect(told).toHaveLength(1);
        };
        await check(client.post(url, { code: 'bad' }));
        await check(client.patch(`${url}${key}/`, { code: 'bad' }));
        await check(client.post(url, [{ code: 'bad' }, { code: 'c' }]));
        await check(client.patch(`${url}?keys=${key}`, { code: 'bad' }));
        if (isPostgres) {
          await check(client.post(url, { code: 'a' }));
          await check(client.post(url, [{ code: 'a' }, { code: 'c' }]));
          await check(client.delete(`${url}${key}/`));
        }
        expect(await codesOf(model)).toEqual(['a']);
      });
    });
  },
  ['sqlite', 'postgres'],
);
