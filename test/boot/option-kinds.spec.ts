// @tags nest
import { describe, expect, test } from '@jest/globals';
import { allow, anyOf, CsvRenderer, IsAdmin, PageNumberPagination, RestifyModule } from 'nestjs-restify';
import type { Grant, RestifyModuleOptions } from 'nestjs-restify';
import { JoinTable, ManyToMany } from 'typeorm';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

type Options = Readonly<Record<string, unknown>>;

const UNSET = Number(undefined);
const ROOT = "RestifyModule.forRoot('rest/v1')";
const THROTTLE = 'Write { limit: 100, ttl: 60_000 }: requests, and the milliseconds in which they may come.';
const REQUESTS = 'Write a whole number above 0.';
const TTL = 'Give whole milliseconds, above 0 and below 2147483648.';
const FLAG = "Write true or false; of an environment variable, process.env.NAME === 'true'.";
const CLASSES = 'Write a list of classes, such as [MyClass].';
const NAMES = "Write a list of names, such as ['title'].";
const NULL = 'null is not a valid value of an option. Leave the option out, or give it a value.';
const OBJECT = 'Write an object, such as { name: value }.';
const PAGINATION =
  '.pagination: this is not a pagination. Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.';
const LOOKUPS = "Write a list of lookups, such as ['exact', 'gte'].";
const PERMISSIONS = 'Write a list of classes, and of what allOf, anyOf and not make of them.';

/** Options that prefixes and models have, and what stands behind the place. */
const SHARED: readonly (readonly [options: Options, line: string])[] = [
  ...[UNSET, 0, -1, 1.5, Infinity, '10', undefined].map((limit): [Options, string] => [
    { throttle: { limit, ttl: 1000 } },
    `.throttle.limit: ${typeof limit === 'string' ? '"10"' : String(limit)} is not a number of requests. ${REQUESTS}`,
  ]),
  ...[UNSET, 0, -1, 2 ** 31, 0.5].map((ttl): [Options, string] => [
    { throttle: { limit: 1, ttl } },
    `.throttle.ttl: ${ttl} is not a valid time. ${TTL}`,
  ]),
  [
    { throttle: { limit: 1, ttl: 1000, key: 'id' } },
    '.throttle.key: "id" is not a function. Write key: (actor) => actor.email, with what tells one caller from another.',
  ],
  [
    { throttle: { limit: 1, ttl: 1000, tll: 5 } },
    '.throttle.tll: "tll" is not a part of a throttle. Did you mean "ttl"?',
  ],
  [
    { throttle: { limit: 1, ttl: 1000, constructor: 5 } },
    '.throttle.constructor: "constructor" is not a part of a throttle. Known here: "limit", "ttl", "key".',
  ],
  [{ throttle: 100 }, `.throttle: 100 is not an object. ${THROTTLE}`],
  [{ throttle: '' }, `.throttle: "" is not an object. ${THROTTLE}`],
  [{ throttle: false }, `.throttle: false is not an object. ${THROTTLE}`],
  [{ throttle: [] }, `.throttle: a list is not an object. ${THROTTLE}`],
  [{ strict: 'false' }, `.strict: "false" is neither true nor false. ${FLAG}`],
  [{ returnDeleted: 'yes' }, `.returnDeleted: "yes" is neither true nor false. ${FLAG}`],
  [{ strict: 0 }, `.strict: 0 is neither true nor false. ${FLAG}`],
  [{ permissions: {} }, `.permissions: an object is not a list. ${PERMISSIONS}`],
  [{ permissions: '' }, `.permissions: "" is not a list. ${PERMISSIONS}`],
  [{ permissions: ['IsAdmin'] }, `.permissions[0]: "IsAdmin" is not a permission. ${PERMISSIONS}`],
  [
    { permissions: [undefined] },
    '.permissions[0]: undefined is not a permission. It is not there yet: look for files that import each other in a circle.',
  ],
  [{ guards: [{}] }, `.guards[0]: an object is not a class. ${CLASSES}`],
  [{ interceptors: entityOf('Around') }, `.interceptors: a function is not a list. ${CLASSES}`],
  [{ pipes: ['x'] }, `.pipes[0]: "x" is not a class. ${CLASSES}`],
  [{ filterBackends: 'x' }, `.filterBackends: "x" is not a list. ${CLASSES}`],
  [{ queryLimits: 5 }, `.queryLimits: 5 is not an object. ${OBJECT}`],
  ...[PageNumberPagination, {}, true, null].map((pagination): [Options, string] => [
    { pagination, shape: true, renderers: [new CsvRenderer()] },
    PAGINATION,
  ]),
  ...[
    'permissions',
    'throttle',
    'guards',
    'strict',
    'queryLimits',
    'filterBackends',
    'interceptors',
    'pipes',
  ].map((name): [Options, string] => [{ [name]: null }, `.${name}: ${NULL}`]),
];

describe('an option of a prefix that is not of its kind', () => {
  test.each([
    ...SHARED,
    [
      { acquireTimeout: UNSET },
      '.acquireTimeout: NaN is not a valid waiting time. Give milliseconds, above 0 and below 2147483648; without the option they are 10000.',
    ],
    [
      { acquireTimeout: '5000' },
      '.acquireTimeout: 5000 is not a valid waiting time. Give milliseconds, above 0 and below 2147483648; without the option they are 10000.',
    ],
    ...[
      'authentication',
      'renderers',
      'acquireTimeout',
      'statementTimeout',
      'shutdownGrace',
      'authenticationTimeout',
      'authenticationThrottle',
      'errorFormat',
      'refusalsHide',
      'missingIndexRows',
      'index',
    ].map((name) => [{ [name]: null }, `.${name}: ${NULL}`] as const),
    ...[-1, 1.5, true, '100000', UNSET].map(
      (missingIndexRows) =>
        [
          { missingIndexRows },
          `.missingIndexRows: ${typeof missingIndexRows === 'string' ? `"${missingIndexRows}"` : String(missingIndexRows)} is not a number of rows. Give a whole number, or false for no warnings.`,
        ] as const,
    ),
    [{ index: 5 }, ".index: 5 is not a valid path. Write a path such as 'api', or false for none."],
    [{ index: true }, ".index: true is not a valid path. Write a path such as 'api', or false for none."],
    [
      { index: 'a b?' },
      '.index: "a b?" is not a valid path. Write a path such as \'api\', or false for none.',
    ],
    [
      { acquireTimout: 5 },
      '.acquireTimout: "acquireTimout" is not an option of RestifyModule.forRoot. Did you mean "acquireTimeout"?',
    ],
    [
      { permission: [] },
      '.permission: "permission" is not an option of RestifyModule.forRoot. Did you mean "permissions"?',
    ],
  ] as readonly (readonly [Options, string])[])('%p is refused', async (options, line) => {
    const found = await problemsOf({ entities: [entityOf('Kept')], restify: options });
    expect(found).toContain(ROOT + line);
  });

  test('is refused beside others, and one of a factory too', async () => {
    const module = RestifyModule.forRootAsync({
      prefix: 'rest/v1',
      useFactory: () =>
        ({ strict: 'yes', throttle: { limit: UNSET, ttl: UNSET } }) as unknown as RestifyModuleOptions,
    });
    expect(await problemsOf({ entities: [entityOf('Made')], restifyModules: [module] })).toEqual([
      `${ROOT}.strict: "yes" is neither true nor false. ${FLAG}`,
      `${ROOT}.throttle.limit: NaN is not a number of requests. ${REQUESTS}`,
      `${ROOT}.throttle.ttl: NaN is not a valid time. ${TTL}`,
    ]);
  });

  test.each([undefined, null, 5])('%p is no prefix', async (prefix) => {
    await expect(
      problemsOf({
        entities: [entityOf('Nowhere')],
        restifyModules: [RestifyModule.forRoot(prefix as unknown as string)],
      }),
    ).resolves.toEqual([
      `RestifyModule.forRoot('${prefix}'): ${prefix} is not a path. Write a text: 'rest/v1', or '' for none.`,
    ]);
  });

  test('is not one that is left out, or undefined', async () => {
    const app = await startApp({
      entities: [entityOf('Left')],
      restify: {
        throttle: undefined,
        permissions: undefined,
        strict: undefined,
        index: '',
        queryLimits: {},
        acquireTimeout: undefined,
        guards: [],
        dataSource: undefined,
      },
    });
    expect((await app.client.get('/')).status).toBe(200);
    await app.close();
  });
});

describe('an option of a model that is not of its kind', () => {
  test.each([
    ...SHARED,
    [{ name: 5 }, '.name: 5 is not a name. Write a text, or leave the option out.'],
    ...[
      'fields',
      'exclude',
      'readOnly',
      'writeOnly',
      'optional',
      'operations',
      'searchFields',
      'orderingFields',
      'ordering',
      'filterFields',
    ].map((name) => [{ [name]: 'text' }, `.${name}: "text" is not a list. ${NAMES}`] as const),
    ...['fields', 'exclude', 'ordering', 'filterFields'].map(
      (name) =>
        [
          { [name]: [undefined] },
          `.${name}[0]: undefined is not a name. It is not there yet: look for files that import each other in a circle.`,
        ] as const,
    ),
    ...['fields', 'trim', 'computed', 'filters', 'through', 'serializer', 'app'].map(
      (name) => [{ [name]: null }, `.${name}: ${NULL}`] as const,
    ),
    ...['trim', 'computed', 'filters', 'through'].map(
      (name) => [{ [name]: ['text'] }, `.${name}: a list is not an object. ${OBJECT}`] as const,
    ),
    ...['filterGroups', 'orderingNulls'].map(
      (name) => [{ [name]: 'false' }, `.${name}: "false" is neither true nor false. ${FLAG}`] as const,
    ),
    [{ filterFields: { text: 'exact' } }, `.filterFields.text: "exact" is not a list. ${LOOKUPS}`],
    [{ filterFields: { text: {} } }, `.filterFields.text.lookups: undefined is not a list. ${LOOKUPS}`],
    [
      { filterFields: { text: { lookups: [], exact: true } } },
      '.filterFields.text.exact: "exact" is not a part of the filters of a path. Known here: "type", "lookups", "column".',
    ],
    [{ filterFields: { text: [null] } }, `.filterFields.text[0]: null is not a lookup. ${LOOKUPS}`],
    [{ filterFields: { text: null } }, `.filterFields.text: ${NULL}`],
    [{ filters: { busy: null } }, `.filters.busy: ${NULL}`],
    [{ trim: { text: 'no' } }, `.trim.text: "no" is neither true nor false. ${FLAG}`],
    [
      { serializer: {} },
      '.serializer: an object is not a class. Write the class itself, and no instance of it.',
    ],
  ] as readonly (readonly [Options, string])[])('%p is refused', async (options, line) => {
    const Kept = entityOf('Kept', ['text']);
    declareUnchecked(Kept, { app: 'boot', ...options });
    expect(await problemsOf({ entities: [Kept] })).toContain(`Kept${line}`);
  });

  test('is refused for a junction too', async () => {
    const [Holder, Tag] = [entityOf('Holder'), entityOf('Tag')];
    const { prototype } = Holder as { prototype: object };
    ManyToMany(() => Tag)(prototype, 'tags');
    JoinTable()(prototype, 'tags');
    declareUnchecked(Holder, {
      app: 'boot',
      through: { tags: { throttle: { limit: UNSET, ttl: 1000 }, strict: 'no' } },
    });
    expect(await problemsOf({ entities: [Holder, Tag] })).toEqual([
      `Holder.through.tags.throttle.limit: NaN is not a number of requests. ${REQUESTS}`,
      `Holder.through.tags.strict: "no" is neither true nor false. ${FLAG}`,
    ]);
  });

  test('is refused for a junction under an unknown name, and with values that depend on the model', async () => {
    const [Holder, Tag] = [entityOf('Misnamed'), entityOf('MisnamedTag')];
    const { prototype } = Holder as { prototype: object };
    ManyToMany(() => Tag)(prototype, 'tags');
    JoinTable()(prototype, 'tags');
    declareUnchecked(Holder, {
      app: 'boot',
      through: { tags: { permisions: [], operations: ['lst'], queryLimits: { values: 0 } } },
    });
    expect(new Set(await problemsOf({ entities: [Holder, Tag] }))).toEqual(
      new Set([
        'Misnamed.through.tags.permisions: "permisions" is not an option of through. Did you mean "permissions"?',
        'Misnamed.through.tags.operations[0]: "lst" is not an operation. Did you mean "list"?',
        'Misnamed.through.tags.queryLimits.values: 0 is not a limit. Write a whole number from 1 to 500.',
      ]),
    );
  });
});

test.each([
  [
    undefined,
    'restify(undefined, …)',
    'It is not there yet: look for files that import each other in a circle.',
  ],
  ['User', 'restify(User, …)', "Write the class itself: restify(User, 'accounts')."],
])('%p is not an entity', (target, where, repair) => {
  expect(() => {
    declareUnchecked(target as never, { app: 'boot' });
  }).toThrow(`${where}: this is neither the class of an entity nor an EntitySchema. ${repair}`);
});

test.each([
  [{ one: 'Item' }, ".many: undefined is not a name. Write a text, such as 'Categories'."],
  [{ one: '', many: 'Items' }, '.one: "" is not a name.'],
  [{ one: 'Item', many: 'Items', few: 'x' }, '.few: "few" is not a name of objects.'],
  ['Items', ': "Items" is not an object.'],
  [null, ': null is not a valid value of an option.'],
])('the labels %j are refused with their repair', async (labels, line) => {
  const Kept = entityOf('Kept');
  declareUnchecked(Kept, { app: 'boot', labels });
  expect(await problemsOf({ entities: [Kept] })).toEqual([expect.stringContaining(`labels${line}`)]);
});

describe('a class without the method of its option', () => {
  class Plain {
    readonly name = 'plain';
  }
  const missing = (option: string, method: string, repair: string): readonly string[] => [
    `${option}: Plain: it has no method ${method}. Name a class that ${repair}.`,
  ];
  const OPTIONS: readonly (readonly [string, Options, readonly string[]])[] = [
    ['permissions', { permissions: [Plain] }, missing('permissions', 'decide', 'implements Permission')],
    [
      'permissions, in an expression',
      { permissions: [anyOf(IsAdmin, Plain as never)] },
      missing('permissions', 'decide', 'implements Permission'),
    ],
    ['guards', { guards: [Plain] }, missing('guards', 'canActivate', 'implements CanActivate')],
    [
      'backends',
      { filterBackends: [Plain] },
      missing('filterBackends', 'filter', 'implements FilterBackend'),
    ],
    [
      'interceptors',
      { interceptors: [Plain] },
      missing('interceptors', 'intercept', 'implements NestInterceptor'),
    ],
    ['pipes', { pipes: [Plain] }, missing('pipes', 'transform', 'implements PipeTransform')],
    ['serializer', { serializer: Plain }, missing('serializer', 'represent', 'extends ModelSerializer')],
  ];

  test.each(OPTIONS)('is refused in %s of a model', async (_, options, problems) => {
    const Kept = entityOf('Kept');
    declareUnchecked(Kept, { app: 'boot', ...options });
    expect(await problemsOf({ entities: [Kept] })).toEqual(problems);
    expect(await problemsOf({ entities: [Kept], providers: [Plain] })).toEqual(problems);
  });

  test('is refused in options of a prefix, and so is a class whose method is a property', async () => {
    class Arrow {
      readonly decide = (): Grant => allow();
    }
    const Kept = entityOf('Kept');
    declareUnchecked(Kept, { app: 'boot' });
    expect(
      await problemsOf({ entities: [Kept], restify: { permissions: [Arrow], pipes: [Plain as never] } }),
    ).toEqual(missing('pipes', 'transform', 'implements PipeTransform'));
  });
});
