// @tags db http nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { LoggerService } from '@nestjs/common';
import {
  IdempotencyRecord,
  ModelSerializer,
  ResourceController,
  RestifyController,
  RestifyResources,
  restify,
} from 'nestjs-restify';
import type { Representation, RestifyOptions } from 'nestjs-restify';
import { AfterLoad, Column, DeleteDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

/** The names of rows that cannot be represented. */
const failing = new Set<string>();

function failOn(name: string): void {
  if (failing.has(name)) throw new Error(`${name} has no representation`);
}

class FailingSerializer extends ModelSerializer {
  override represent(...of: Parameters<ModelSerializer['represent']>): Representation {
    const body = super.represent(...of);
    failOn(String(body.name));
    return { ...body, shout: String(body.name).toUpperCase() };
  }
}

abstract class Named {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
}

@Entity('rc_serialized')
class RcSerialized extends Named {
  @DeleteDateColumn() gone: Date | null;
}

@Entity('rc_computed')
class RcComputed extends Named {}

@Entity('rc_hooked')
class RcHooked extends Named {}

@RestifyController(RcHooked)
class HookedController extends ResourceController<RcHooked> {
  override beforeWrite(): void {
    // Writes of a model with a hook load the row first.
  }
}

@Entity('rc_loaded')
class RcLoaded extends Named {
  @AfterLoad() loaded(): void {
    failOn(this.name);
  }
}

@Entity('rc_expanding')
class RcExpanding extends Named {
  @ManyToOne(() => RcComputed) other: Relation<RcComputed> | null;
}

const common = { app: 'rc', bulk: { upsert: ['name'] }, responses: 'afterCommit' } as const;
const computed = {
  size: ({ name }: Named) => {
    failOn(name);
    return name.length;
  },
};
restify(RcSerialized, { ...common, trash: true, serializer: FailingSerializer });
restify(RcComputed, { ...common, computed });
restify(RcHooked, { ...common, serializer: FailingSerializer });
restify(RcLoaded, common);
restify(RcExpanding, { ...common, expandable: ['other'] });

const logger: LoggerService = { log: () => undefined, warn: () => undefined, error: () => undefined };
const SERVER_ERROR = [500, { detail: 'A server error occurred.' }];

onEachDatabase("a write with responses: 'afterCommit'", (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({
      ...{ entities: [RcSerialized, RcComputed, RcHooked, RcLoaded, RcExpanding], database },
      ...{ nest: { logger }, restify: { unknownEntities: 'ignore' } },
      controllers: [HookedController],
    });
    client = started.client;
  });
  beforeEach(() => {
    failing.clear();
  });
  afterAll(async () => {
    failing.clear();
    await started.close();
  });

  const namesOf = async (model: string): Promise<readonly string[]> => {
    failing.clear();
    return ((await client.get(`/rest/v1/rc/${model}/`)).json as { name: string }[]).map(({ name }) => name);
  };

  test.each(['rcserialized', 'rccomputed', 'rchooked'])(
    'is stored though its response fails: %s',
    async (model) => {
      const url = `/rest/v1/rc/${model}/`;
      expect((await client.post(url, { name: 'a' })).json).toMatchObject(
        model === 'rccomputed' ? { name: 'a', size: 1 } : { name: 'a', shout: 'A' },
      );
      const writes = [
        [() => client.post(url, { name: 'bad' }), ['a', 'bad']],
        [() => client.put(`${url}1/`, { name: 'bad 2' }), ['bad 2', 'bad']],
        [() => client.patch(`${url}1/`, { name: 'bad 3' }), ['bad 3', 'bad']],
        [() => client.post(url, [{ name: 'c' }, { name: 'bad 4' }]), ['bad 3', 'bad', 'c', 'bad 4']],
        [() => client.patch(url, [{ id: 1, name: 'bad 5' }]), ['bad 5', 'bad', 'c', 'bad 4']],
        [
          () => client.post(`${url}?upsert=true`, [{ name: 'bad 6' }]),
          ['bad 5', 'bad', 'c', 'bad 4', 'bad 6'],
        ],
      ] as const;
      for (const [write, names] of writes) {
        for (const name of ['bad', 'bad 2', 'bad 3', 'bad 4', 'bad 5', 'bad 6']) failing.add(name);
        expect(seen(await write())).toEqual(SERVER_ERROR);
        expect(await namesOf(model)).toEqual(names);
      }
      failing.clear();
      expect((await client.patch(`${url}1/`, { name: 'a' })).json).toMatchObject({ id: 1, name: 'a' });
    },
  );

  test('is a restoration, too', async () => {
    const url = '/rest/v1/rc/rcserialized/';
    const { id } = (await client.post(url, { name: 'back' })).json as { id: number };
    await client.delete(`${url}${id}/`);
    failing.add('back');
    expect(seen(await client.post(`${url}${id}/restore/`, {}))).toEqual(SERVER_ERROR);
    expect(await namesOf('rcserialized')).toContain('back');
  });

  test('makes its response inside of the transaction where other objects are expanded, and loads its entity there', async () => {
    const other = ((await client.post('/rest/v1/rc/rccomputed/', { name: 'other' })).json as { id: number })
      .id;
    failing.add('other');
    const url = '/rest/v1/rc/rcexpanding/';
    expect(seen(await client.post(`${url}?expand=other`, { name: 'x', other }))).toEqual(SERVER_ERROR);
    expect(await namesOf('rcexpanding')).toEqual([]);
    failing.add('y');
    expect(seen(await client.post('/rest/v1/rc/rcloaded/', { name: 'y' }))).toEqual(SERVER_ERROR);
    expect(await namesOf('rcloaded')).toEqual([]);
  });

  test('rejects a program whose representation fails, which has written', async () => {
    const resources = started.app.get(RestifyResources).of(RcComputed).as(null);
    failing.add('by code');
    await expect(resources.create({ name: 'by code' })).rejects.toThrow('by code has no representation');
    expect(await namesOf('rccomputed')).toContain('by code');
  });

  test('needs no transaction for the response', async () => {
    const log = new StatementLog();
    const single = await startApp({
      ...{ entities: [RcSerialized, RcComputed], database, compare: false },
      ...{ dataSource: { logger: log }, restify: { unknownEntities: 'ignore' } },
    });
    try {
      // The first write asks what the table is.
      await single.client.post('/rest/v1/rc/rcserialized/', { name: 'one' });
      log.clear();
      expect((await single.client.post('/rest/v1/rc/rcserialized/', { name: 'two' })).status).toBe(201);
      expect(log.statements).toHaveLength(1);
    } finally {
      await single.close();
    }
  });
});

test('is refused beside stored responses, and for another value', async () => {
  const start = (
    options: Pick<RestifyOptions, 'responses' | 'idempotency'>,
    prefix: object = {},
  ): Promise<unknown> => {
    @Entity('rc_refused')
    class Refused extends Named {}
    restify(Refused, { app: 'rc', ...options });
    return startApp({ entities: [Refused, IdempotencyRecord], restify: prefix }).then((opened) =>
      opened.close(),
    );
  };
  const stored =
    'Refused.responses: the response to a request with an Idempotency-Key is stored in its transaction. Take `responses` away, or set `idempotency: false`.';
  await expect(start({ responses: 'afterCommit', idempotency: true })).rejects.toThrow(stored);
  await expect(start({ responses: 'afterCommit' }, { idempotency: true })).rejects.toThrow(stored);
  await expect(start({ responses: 'late' as never })).rejects.toThrow(
    'Refused.responses: "late" is not a time of the response. Write \'afterCommit\', or leave the option out.',
  );
  await start({ responses: 'afterCommit', idempotency: false }, { idempotency: true });
});
