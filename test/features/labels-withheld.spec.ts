// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { allow, CsvRenderer, ModelSerializer, Restify, RestifyOpenApi, where } from 'nestjs-restify';
import type {
  AccessContext,
  Grant,
  Permission,
  RepresentContext,
  Representation,
  RouteDescription,
  Row,
} from 'nestjs-restify';
import {
  AfterLoad,
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, LoadEvent, Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Injectable()
class Door implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return request.headers['x-door'] === 'blue';
  }
}

/** Shows the last two digits. */
const LAST_DIGITS = {
  to: (value: string) => value,
  from: (value: string | null) => value && `****${value.slice(-2)}`,
};

/** The user `first` sees the first card alone, and `numberless` no numbers. */
class Cards implements Permission {
  decide({ request }: AccessContext): Grant {
    const user = (request as { headers: Record<string, string | undefined> } | undefined)?.headers['x-user'];
    if (user === 'first') return allow({ rows: where('id', 1) });
    return user === 'numberless' ? allow({ readable: ['id'] }) : allow();
  }
}

class MaskingSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    return { ...super.represent(row, context), name: '***' };
  }
}

class RenamingSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    const { name, ...others } = super.represent(row, context);
    return { ...others, title: name };
  }
}

/** Withholds one relation, and empties another one. */
class WithholdingSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    const { plain, ...others } = super.represent(row, context);
    return { ...others, other: null, hasPlain: plain !== null };
  }
}

@Restify({ app: 'lbw', label: 'name', guards: [Door] })
@Entity('lbw_room')
class Room {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lbw', label: 'name', operations: ['create'] })
@Entity('lbw_box')
class Box {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lbw', label: '{number} of {owner}', permissions: [Cards] })
@Entity('lbw_card')
class Card {
  @PrimaryColumn() id: number;
  @Column({ type: 'varchar', transformer: LAST_DIGITS }) number: string;
  @Column() owner: string;
  @OneToMany(() => File, (file) => file.card) files: Relation<File[]>;
}

@Restify({ app: 'lbw', label: 'name' })
@Entity('lbw_loaded')
class Loaded {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @AfterLoad() mask(): void {
    this.name = '***';
  }
}

@Restify({ app: 'lbw', label: 'name' })
@Entity('lbw_watched')
class Watched {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lbw', label: 'name', serializer: MaskingSerializer })
@Entity('lbw_masked')
class Masked {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lbw', label: 'name', serializer: RenamingSerializer })
@Entity('lbw_renamed')
class Renamed {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lbw', label: 'name' })
@Entity('lbw_plain')
class Plain {
  @PrimaryColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'lbw', shape: true, expandable: ['card'], renderers: [new CsvRenderer()] })
@Entity('lbw_file')
class File {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Room, { nullable: true }) room: Relation<Room> | null;
  @ManyToOne(() => Box, { nullable: true }) box: Relation<Box> | null;
  @ManyToOne(() => Card, (card) => card.files, { nullable: true }) card: Relation<Card> | null;
  @ManyToOne(() => Loaded, { nullable: true }) loaded: Relation<Loaded> | null;
  @ManyToOne(() => Watched, { nullable: true }) watched: Relation<Watched> | null;
  @ManyToOne(() => Masked, { nullable: true }) masked: Relation<Masked> | null;
  @ManyToOne(() => Renamed, { nullable: true }) renamed: Relation<Renamed> | null;
  @ManyToOne(() => Plain, { nullable: true }) plain: Relation<Plain> | null;
  @ManyToMany(() => Masked) @JoinTable({ name: 'lbw_file_masks' }) masks: Relation<Masked[]>;
}

/** Its guard is that of the room. */
@Restify({ app: 'lbw', guards: [Door] })
@Entity('lbw_key')
class Key {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Room) room: Relation<Room>;
}

@Restify({ app: 'lbw', serializer: WithholdingSerializer })
@Entity('lbw_withholding')
class Withholding {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Plain) plain: Relation<Plain>;
  @ManyToOne(() => Plain) other: Relation<Plain>;
  @ManyToOne(() => Plain) shown: Relation<Plain>;
}

/** Refers to labelled models whose labels it cannot have. */
@Restify({ app: 'lbw' })
@Entity('lbw_outside')
class Outside {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Room, { nullable: true }) room: Relation<Room> | null;
  @ManyToOne(() => Box, { nullable: true }) box: Relation<Box> | null;
}

class WatchedSubscriber implements EntitySubscriberInterface<Watched> {
  listenTo(): typeof Watched {
    return Watched;
  }
  afterLoad(entity: Watched, _event?: LoadEvent<Watched>): void {
    entity.name = entity.name.toUpperCase();
  }
}

const ENTITIES = [Room, Box, Card, Loaded, Watched, Masked, Renamed, Plain, File, Key, Withholding, Outside];
const FILES = '/rest/v1/lbw/file/';
const AS_DESCRIPTION = { accept: 'application/vnd.restify.description+json' };

onEachDatabase('labels of models whose URLs withhold values', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      database,
      entities: ENTITIES,
      providers: [Door],
      dataSource: { logging: true, logger: log },
    });
    const { manager } = started.dataSource;
    started.dataSource.subscribers.push(new WatchedSubscriber());
    for (const entity of [Room, Box, Loaded, Watched, Masked, Renamed, Plain])
      await manager.save(entity, { id: 1, name: `Stored ${entity.name}` });
    await manager.save(Card, [
      { id: 1, number: '4111', owner: 'Ann' },
      { id: 2, number: '4222', owner: 'Bob' },
    ]);
    const one = { id: 1 };
    await manager.save(File, [
      {
        id: 1,
        room: one,
        box: one,
        card: one,
        loaded: one,
        watched: one,
        masked: one,
        renamed: one,
        plain: one,
        masks: [one],
      },
      { id: 2, card: { id: 2 }, plain: one },
      { id: 3, card: { id: 2 } },
      { id: 4 },
    ]);
    await manager.save(Key, { id: 1, room: one });
    await manager.save(Withholding, { id: 1, plain: one, other: one, shown: one });
    await manager.save(Outside, { id: 1, room: one, box: one });
  });
  afterAll(() => started.close());

  const read = async (path: string, headers = {}): Promise<unknown> => {
    const { status, json } = await started.client.get(path, { headers });
    expect(status).toBe(200);
    return json;
  };
  const labelsOf = async (path: string, headers = {}): Promise<readonly unknown[]> =>
    ((await read(path, headers)) as readonly { labels: unknown }[]).map(({ labels }) => labels);

  const FIRST = {
    card: '****11 of Ann',
    loaded: '***',
    watched: 'STORED WATCHED',
    masked: '***',
    renamed: '1',
    plain: 'Stored Plain',
  };
  const LABELS = [FIRST, { card: '****22 of Bob', plain: 'Stored Plain' }, { card: '****22 of Bob' }, {}];

  test('have the values that the related model’s own URLs show', async () => {
    expect(await labelsOf(`${FILES}?with=labels`)).toEqual(LABELS);
    expect(await read(`${FILES}1/?with=labels`)).toMatchObject({ id: 1, labels: FIRST });
    expect(await read(`${FILES}4/?with=labels`)).toMatchObject({ id: 4, labels: {} });
  });

  test('are in the order of the fields, in every format, and on nested lists', async () => {
    const { text } = await started.client.get(`${FILES}1/?with=labels`);
    expect(text).toContain(`"labels":${JSON.stringify(FIRST)}`);
    const { text: csv } = await started.client.get(`${FILES}?with=labels&fields=id,card&format=csv`);
    expect(csv.split('\r\n')[1]).toBe('1,1,"{""card"":""****11 of Ann""}"');
    expect(await labelsOf('/rest/v1/lbw/card/2/files/?with=labels')).toEqual(LABELS.slice(1, 3));
    expect(await labelsOf('/rest/v1/lbw/file/1/masks/?with=labels')).toEqual([{ masked: '***' }]);
  });

  test('are read by one statement for each relation and page of rows, and by none where not selected', async () => {
    const count = async (query: string): Promise<number> => {
      log.clear();
      await read(`${FILES}?with=labels&fields=${query}`, { 'x-once': 'yes' });
      return log.statements.filter((text) => text.startsWith('SELECT')).length;
    };
    const plain = await count('id,plain');
    expect((await count('id,plain,masked')) - plain).toBe(plain);
    expect(await count('id,plain')).toBe(plain);
  });

  test('follow the permissions of the related model', async () => {
    const cards = `${FILES}?with=labels&fields=card`;
    expect(await labelsOf(cards, { 'x-user': 'first' })).toEqual([{ card: '****11 of Ann' }, {}, {}, {}]);
    expect(await labelsOf(cards, { 'x-user': 'numberless' })).toEqual([
      { card: '1' },
      { card: '2' },
      { card: '2' },
      {},
    ]);
  });

  test('stand beside expanded objects', async () => {
    expect(await read(`${FILES}1/?with=labels&fields=id,card.owner&expand=card`)).toEqual({
      id: 1,
      card: { owner: 'Ann' },
      labels: { card: '****11 of Ann' },
    });
  });

  test('are absent where an expansion would be refused: by other guards, and without a read operation', async () => {
    expect((await started.client.get('/rest/v1/lbw/room/1/')).status).toBe(403);
    expect(await labelsOf(`${FILES}?with=labels&fields=room,box`, { 'x-door': 'blue' })).toEqual([
      {},
      {},
      {},
      {},
    ]);
    expect(await labelsOf('/rest/v1/lbw/key/?with=labels', { 'x-door': 'blue' })).toEqual([
      { room: 'Stored Room' },
    ]);
    expect((await started.client.get('/rest/v1/lbw/key/?with=labels')).status).toBe(403);
    // No relation has a label: there is no such parameter.
    expect(await read('/rest/v1/lbw/outside/?with=labels')).toEqual([{ id: 1, room: 1, box: 1 }]);
  });

  test('descriptions and OpenAPI have no template of them', async () => {
    const describe = async (path: string, headers = {}): Promise<RouteDescription> =>
      (await read(`/rest/v1/lbw/${path}/`, { ...AS_DESCRIPTION, ...headers })) as RouteDescription;
    const { relations } = await describe('file');
    expect(relations).toMatchObject({
      room: { url: '/rest/v1/lbw/room/', label: null },
      box: { url: null, label: null },
      card: { label: '{number} of {owner}' },
    });
    expect((await describe('key', { 'x-door': 'blue' })).relations).toMatchObject({
      room: { label: '{name}' },
    });
    expect((await describe('outside')).with).toBeUndefined();
    const document = started.app
      .get(RestifyOpenApi)
      .extend({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} });
    const { components } = document as unknown as {
      components: { schemas: Record<string, { properties?: { labels?: { properties: object } } }> };
    };
    const named = Object.values(components.schemas).flatMap(({ properties }) =>
      properties?.labels ? [Object.keys(properties.labels.properties)] : [],
    );
    expect(named).toContainEqual(['card', 'loaded', 'watched', 'masked', 'renamed', 'plain']);
    expect(named).toContainEqual(['room']);
    expect(named.flat()).not.toContain('box');
  });

  test('a field that the serializer of the row drops or empties has no label', async () => {
    expect(await read('/rest/v1/lbw/withholding/?with=labels')).toEqual([
      { id: 1, other: null, shown: 1, hasPlain: true, labels: { shown: 'Stored Plain' } },
    ]);
  });
});
