// @tags http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  basic,
  deny,
  FieldFilter,
  IsAuthenticated,
  IsAuthenticatedOrReadOnly,
  ModelSerializer,
  OrderingFilter,
  Restify,
  RestifyResources,
  strategy,
} from 'nestjs-restify';
import type { FilterBackend, FilterResult, Grant, Permission, Denial } from 'nestjs-restify';
import { Strategy } from 'passport';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { Components, UniqueNames } from '../../src/openapi/components.js';
import { describedMethods } from '../../src/openapi/described-route.js';
import { describeOperation } from '../../src/openapi/describe-operation.js';
import type { Route } from '../../src/core/schema/route.js';
import { lintOpenApi } from '../support/lint-openapi.js';
import { usePassportStrategy } from '../support/restore.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';
import type { PlainDocument, PlainOperation } from './document.js';

class Address {
  @Column({ length: 40 })
  street: string;

  @Column({ nullable: true, length: 10 })
  zip: string;
}

class DraftsFilter implements FilterBackend {
  filter(): FilterResult {
    return {};
  }

  parameters(): string[] {
    return ['drafts'];
  }
}

/** Hides a field from some. */
class Somebody implements Permission {
  decide(): Grant | Denial {
    return Math.random() < 2 ? allow({ readable: ['id'] }) : deny();
  }
}

class ShoutingSerializer extends ModelSerializer {
  override represent(
    ...given: Parameters<ModelSerializer['represent']>
  ): ReturnType<ModelSerializer['represent']> {
    return { ...super.represent(...given), loud: true };
  }
}

@Restify({
  app: 'doc',
  writeOnly: ['secret'],
  readOnly: ['stamp'],
  optional: ['filled'],
  computed: { shout: (made: Made) => made.name },
  filterFields: { name: ['exact', 'icontains'], size: ['gte', 'in', 'range', 'isnull'], owner: ['exact'] },
  filterBackends: [FieldFilter, OrderingFilter, DraftsFilter],
  orderingFields: ['name'],
})
@Entity()
class Made {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  name: string;

  @Column({ type: 'smallint', nullable: true })
  size: number | null;

  @Column({ type: 'simple-enum', enum: ['red', 'blue'], default: 'red' })
  colour: string;

  @Column({ type: 'bigint', default: 0 })
  large: string;

  @Column({ type: 'datetime', nullable: true })
  at: Date | null;

  @Column({ type: 'simple-json', nullable: true })
  more: unknown;

  @Column({ length: 20 })
  secret: string;

  @Column({ default: 'x' })
  stamp: string;

  @Column()
  filled: string;

  @Column(() => Address)
  address: Address;

  @ManyToOne(() => Owner, (owner) => owner.made, { nullable: true })
  owner: Relation<Owner> | null;
}

@Restify({
  app: 'doc',
  authentication: [basic(() => null), strategy('key', { header: 'X-API-Key' })],
  permissions: [IsAuthenticatedOrReadOnly],
  operations: ['list', 'retrieve', 'partialUpdate'],
  through: { pairs: { permissions: [AllowAny] } },
})
@Entity()
class Owner {
  @PrimaryColumn({ type: 'uuid' })
  code: string;

  @OneToMany(() => Made, (made) => made.owner)
  made: Relation<Made[]>;

  @ManyToMany(() => Pair, (pair) => pair.owners)
  @JoinTable()
  pairs: Relation<Pair[]>;
}

@Restify({ app: 'doc', permissions: [Somebody], strict: true })
@Entity()
class Pair {
  @PrimaryColumn()
  left: number;

  @PrimaryColumn()
  right: string;

  @Column({ default: 1 })
  count: number;

  @ManyToMany(() => Owner, (owner) => owner.pairs)
  owners: Relation<Owner[]>;
}

@Restify({
  app: 'doc',
  serializer: ShoutingSerializer,
  authentication: [basic(() => null)],
  permissions: [IsAuthenticated],
  operations: ['list', 'create'],
})
@Entity()
class Loud {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

usePassportStrategy('key', Object.assign(new Strategy(), { authenticate: (): void => undefined }));

describe('models in the document', () => {
  let started: StartedApp;
  let document: PlainDocument;
  beforeAll(async () => {
    started = await startApp({ entities: [Made, Owner, Pair, Loud] });
    document = documentOf(started.app);
  });
  afterAll(() => started.close());

  const operation = (path: string, method: string): PlainOperation => {
    const found = document.paths[`/rest/v1/doc/${path}`]?.[method];
    if (!found) throw new Error(`${method} ${path} is not described`);
    return found;
  };
  const schema = (
    name: string,
  ): {
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
    readonly additionalProperties?: boolean;
  } => document.components.schemas?.[name] as ReturnType<typeof schema>;

  test("is valid by Redocly's recommended rules", async () => {
    expect((await lintOpenApi(document)).filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test('an answer holds what can be read, with its type, length, enum, null and format', () => {
    const { properties, required } = schema('DocMade');
    expect(properties).toMatchObject({
      id: { type: 'integer', readOnly: true },
      name: { type: 'string', maxLength: 30 },
      size: { type: ['integer', 'null'], format: 'int64' },
      colour: { type: 'string', enum: ['red', 'blue'] },
      large: { type: 'string', format: 'int64' },
      at: { type: ['string', 'null'], format: 'date-time' },
      stamp: { type: 'string', readOnly: true },
      address: {
        type: 'object',
        required: ['street', 'zip'],
        properties: { street: { maxLength: 40 }, zip: { type: ['string', 'null'] } },
      },
      owner: { type: ['string', 'null'], format: 'uuid' },
      shout: { readOnly: true },
    });
    expect(properties).not.toHaveProperty('secret');
    expect(required).toEqual(Object.keys(properties));
  });

  test('a POST holds what can be written, and requires what must be there', () => {
    const { properties, required } = schema('DocMadeCreate');
    expect(Object.keys(properties)).toEqual([
      'name',
      'size',
      'colour',
      'large',
      'at',
      'more',
      'secret',
      'filled',
      'address',
      'owner',
    ]);
    expect(properties).toMatchObject({
      secret: { writeOnly: true, maxLength: 20 },
      name: { minLength: 1 },
      large: { type: ['string', 'integer'] },
      address: { required: ['street'] },
    });
    expect(required).toEqual(['name', 'secret', 'address']);
  });

  test('a PUT requires as a POST does, and a PATCH nothing', () => {
    expect(schema('DocMadeUpdate')).toEqual({
      $ref: '#/components/schemas/DocMadeCreate',
      title: 'Made, to replace',
    });
    // Only a POST has the fields of the key.
    expect(Object.keys(schema('DocPairCreate').properties)).toEqual(['left', 'right', 'count']);
    expect(Object.keys(schema('DocPairUpdate').properties)).toEqual(['count']);
    expect(schema('DocMadePatch')).not.toHaveProperty('required');
    expect(schema('DocMadePatch').properties.address).not.toHaveProperty('required');
  });

  test('examples fit their schemas', () => {
    expect(schema('DocMade').properties).toMatchObject({
      id: { examples: [1] },
      name: { examples: ['Name'] },
      colour: { examples: ['red'] },
      at: { examples: ['2022-10-02T09:23:28.297Z'] },
    });
    expect(schema('DocOwner').properties.made).toMatchObject({
      examples: [expect.stringMatching(/^\/rest\/v1\/doc\/owner\/[0-9a-f-]{36}\/made\/$/)],
    });
  });

  test('parameters are those of the filters that there are, by their lookups', () => {
    expect(parametersOf(operation('made', 'get'), 'query')).toEqual({
      name: { type: 'string' },
      name__icontains: { type: 'string' },
      size__gte: { type: 'integer', format: 'int64' },
      size__in: { type: 'array', items: { type: 'integer', format: 'int64' }, maxItems: 100 },
      size__range: { type: 'array', items: { type: 'integer', format: 'int64' }, minItems: 2, maxItems: 2 },
      size__isnull: { type: 'boolean' },
      owner: { type: 'string', format: 'uuid' },
      ordering: { type: 'array', items: { type: 'string', enum: ['name', '-name'] } },
      drafts: { type: 'string' },
    });
    expect(parametersOf(operation('made', 'post'), 'query')).toEqual({});
  });

  test('keys in URLs have the type of their column, and a composite one is a text', () => {
    expect(parametersOf(operation('made/{pk}', 'get'), 'path')).toEqual({
      pk: { type: 'integer', format: 'int64' },
    });
    expect(parametersOf(operation('owner/{pk}/pairs/{childId}', 'get'), 'path')).toEqual({
      pk: { type: 'string', format: 'uuid' },
      childId: { type: 'string' },
    });
  });

  test('only what is served is there', () => {
    expect(Object.keys(document.paths['/rest/v1/doc/owner'] ?? {})).toEqual(['get']);
    expect(Object.keys(document.paths['/rest/v1/doc/owner/{pk}'] ?? {})).toEqual(['get', 'patch']);
    expect(Object.keys(document.paths['/rest/v1/doc/owner/{pk}/made'] ?? {})).toEqual(['get']);
    expect(document.paths).not.toHaveProperty('/rest/v1/doc/loud/{pk}');
  });

  test('401, 403, 409 and 429 are where they can be', () => {
    const statuses = (path: string, method: string): readonly string[] =>
      Object.keys(operation(path, method).responses);
    expect(statuses('made', 'get')).toEqual(['200', '400', '406', '500', '503']);
    expect(statuses('made/{pk}', 'delete')).toEqual(['204', '400', '404', '406', '409', '500', '503']);
    expect(statuses('owner', 'get')).toEqual(['200', '400', '401', '406', '429', '500', '503']);
    expect(statuses('owner/{pk}', 'patch')).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '406',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
    expect(statuses('pair', 'get')).toEqual(['200', '400', '403', '404', '406', '500', '503']);
  });

  test('429 is where a throttle is', () => {
    const { resource } = started.app.get(RestifyResources).of(Made);
    const route: Route = {
      kind: 'collection',
      resource: { ...resource, throttle: { limit: 1, ttl: 1000 } },
      parent: undefined,
      relation: undefined,
      operations: new Map([['GET', 'list']]),
      actions: new Map(),
      allow: 'GET',
      queryable: false,
      name: 'made',
    };
    const place = {
      base: '',
      prefix: '',
      components: new Components(new Set()),
      operationIds: new UniqueNames(new Set()),
      errorFormat: 'drf' as const,
      hasSecurity: false,
      listParameters: new Map(),
      objects: new Map(),
    };
    const described = describedMethods(route).map((each) => describeOperation(each, place));
    expect(described.map(({ responses }) => Object.keys(responses))).toEqual([
      ['200', '400', '406', '429', '500', '503'],
    ]);
  });

  test('security is that of the schemes, and anonymous callers are named where they may ask', () => {
    expect(document.components.securitySchemes).toEqual({
      basic: { type: 'http', scheme: 'basic' },
      'header-x-api-key': { type: 'apiKey', in: 'header', name: 'x-api-key' },
    });
    expect(operation('owner', 'get').security).toEqual([{ basic: [] }, { 'header-x-api-key': [] }, {}]);
    expect(operation('owner/{pk}', 'patch').security).toEqual([{ basic: [] }, { 'header-x-api-key': [] }]);
    expect(operation('made', 'get').security).toEqual([]);
    expect(operation('loud', 'get').security).toEqual([{ basic: [] }]);
  });

  test("a field that a permission of the application's own may hide need not be there", () => {
    expect(schema('DocPair')).not.toHaveProperty('required');
  });

  test('a strict model takes no unknown fields', () => {
    expect(schema('DocPairCreate').additionalProperties).toBe(false);
    expect(schema('DocMadeCreate')).not.toHaveProperty('additionalProperties');
  });

  test("what a serializer of the application's own shows has no known shape, and what it takes is that of the model", () => {
    expect(operation('loud', 'post').responses['201']).toMatchObject({
      content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
    });
    expect(operation('loud', 'post').requestBody?.content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/DocLoudCreate',
    });
  });

  test('a through object is written without the side in the URL', () => {
    expect(Object.keys(schema('DocOwnerPairs').properties)).toEqual(['id', 'owner', 'pair']);
    expect(Object.keys(schema('DocOwnerPairsCreate').properties)).toEqual(['pair']);
    expect(Object.keys(schema('DocPairOwnersCreate').properties)).toEqual(['owner']);
  });

  test('every operation has an id of its own', () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining([
        'doc_made_list',
        'doc_made_partialUpdate',
        'doc_owner_made_list',
        'doc_owner_pairs_create',
      ]),
    );
  });
});
