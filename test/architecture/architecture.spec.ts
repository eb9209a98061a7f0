// @tags core
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as library from 'nestjs-restify';
import ts from 'typescript';

interface Import {
  /** The file of `src/`, or the package. */
  readonly to: string;
  readonly typeOnly: boolean;
}

interface SourceFile {
  /** Below `src/`: `model/field.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .sort()
  .map(readSource);

function readSource(path: string): SourceFile {
  const text = readFileSync(join(SRC, path), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return { path, text, tree, imports: importsOf(tree, path) };
}

/** Imports, re-exports, `import()` and `import('…')` types. */
function importsOf(tree: ts.SourceFile, path: string): readonly Import[] {
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier && ts.isStringLiteralLike(specifier))
      imports.push({ to: target(specifier.text, path), typeOnly });
  };
  visit(tree, (node) => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
  });
  return imports;
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => {
    visit(child, see);
  });
}

function target(specifier: string, path: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return relative(SRC, join(SRC, dirname(path), specifier)).replace(/\.js$/, '.ts');
}

/**
 * The room of a file: its folder, below `request/`, `boot/` and `adapters/` the second one; or a file that is a layer of
 * its own. The files that stand in `boot/` itself put a prefix together, and are one room; all may know its tokens.
 */
function roomOf(path: string): string {
  const [first = '', second = '', third] = path.split('/');
  if (second === '') return first.replace(/\.ts$/, '');
  if (first !== 'request' && first !== 'boot' && first !== 'adapters') return first;
  if (first === 'boot' && third === undefined) return second === 'tokens.ts' ? 'boot/tokens' : 'boot';
  return third === undefined ? `${first}/${second.replace(/\.ts$/, '')}` : `${first}/${second}`;
}

const STEPS = [
  'authentication',
  'permissions',
  'throttling',
  'filtering',
  'ordering',
  'pagination',
  'shaping',
  'conditional',
  'idempotency',
  'serializers',
  'metadata',
].map((step) => `request/${step}`);
const WORDS = ['errors', 'model', 'values'];
const REQUEST = [
  ...WORDS,
  ...STEPS,
  'request/parsing',
  'request/planning',
  'request/execution',
  'request/responses',
];
const DECLARED = [...WORDS, 'declare', 'restify.options'];

/** What each room may import from `src/`, beside its own files. A room that is missing here may not exist. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  model: ['errors'],
  values: ['errors', 'model'],
  declare: ['errors', 'model'],
  'restify.options': ['errors', 'model', 'declare'],
  ...Object.fromEntries(STEPS.map((step) => [step, WORDS])),
  'request/parsing': [...WORDS, ...STEPS],
  'request/planning': [...WORDS, ...STEPS, 'request/parsing'],
  'request/execution': [...WORDS, ...STEPS, 'request/parsing', 'request/planning'],
  'request/responses': [...WORDS, ...STEPS, 'request/parsing', 'request/planning', 'request/execution'],
  'request/asked': REQUEST,
  'request/call': [...REQUEST, 'request/asked'],
  'request/http-requester': REQUEST,
  'request/asked-over': [
    ...REQUEST,
    'request/asked',
    'request/call',
    'request/http-requester',
    'request/repeatable-request',
  ],
  'request/represent-row': [...REQUEST, 'request/asked'],
  'request/shown-by-get': [...REQUEST, 'request/asked', 'request/represent-row'],
  'request/repeatable-request': [...REQUEST, 'request/asked', 'request/call'],
  'request/idempotent-creates': [...REQUEST, 'request/asked', 'request/represent-row'],
  'request/preconditions': [...REQUEST, 'request/asked'],
  'request/write-plans': [...REQUEST, 'request/asked'],
  'request/expansions': REQUEST,
  'request/shaped-answers': [...REQUEST, 'request/asked', 'request/expansions'],
  'request/operations': [
    ...REQUEST,
    'request/asked',
    'request/preconditions',
    'request/shaped-answers',
    'request/represent-row',
    'request/shown-by-get',
    'request/idempotent-creates',
    'request/write-plans',
  ],
  'request/bulk-writes': [
    ...REQUEST,
    'request/asked',
    'request/idempotent-creates',
    'request/operations',
    'request/represent-row',
    'request/write-plans',
  ],
  'request/conditional-objects': [
    ...REQUEST,
    'request/asked',
    'request/preconditions',
    'request/operations',
    'request/represent-row',
  ],
  'request/paged-lists': [...REQUEST, 'request/asked', 'request/operations', 'request/represent-row'],
  'request/rendered-answers': [...REQUEST, 'request/asked', 'request/operations', 'request/paged-lists'],
  'request/rest-pipeline': [
    ...REQUEST,
    'request/asked',
    'request/asked-over',
    'request/http-requester',
    'request/bulk-writes',
    'request/operations',
    'request/paged-lists',
    'request/rendered-answers',
    'request/conditional-objects',
    'request/call',
    'request/write-plans',
  ],
  'adapters/typeorm': [...WORDS, 'request/execution'],
  'adapters/class-transformer': WORDS,
  'adapters/class-validator': WORDS,
  'adapters/passport': [...WORDS, 'request/authentication'],
  'adapters/throttler': WORDS,
  'boot/tokens': [],
  'boot/compiling': DECLARED,
  'boot/verifying': [...DECLARED, 'boot/compiling'],
  'boot/openapi': [
    ...WORDS,
    'request/filtering',
    'request/permissions',
    'request/planning',
    'request/serializers',
    'request/asked',
    'request/operations',
    'request/write-plans',
  ],
  'boot/routing': [
    ...DECLARED,
    ...REQUEST,
    'boot/openapi',
    'request/asked',
    'request/call',
    'request/operations',
    'request/rest-pipeline',
    'boot/tokens',
  ],
  boot: [
    ...DECLARED,
    ...REQUEST,
    'request/rest-pipeline',
    'adapters/typeorm',
    'adapters/class-transformer',
    'adapters/class-validator',
    'adapters/passport',
    'adapters/throttler',
    'boot/tokens',
    'boot/compiling',
    'boot/verifying',
    'boot/routing',
  ],
  'restify.module': [...DECLARED, ...REQUEST, 'request/rest-pipeline', 'boot/tokens', 'boot/routing', 'boot'],
};

function isOwn({ to }: Import): boolean {
  return to.endsWith('.ts');
}

function offences(isOffence: (file: SourceFile, each: Import) => boolean): readonly string[] {
  return FILES.flatMap((file) =>
    file.imports.filter((each) => isOffence(file, each)).map(({ to }) => `${file.path} imports ${to}`),
  );
}

describe('imports of src', () => {
  test('are all found: every one of the own leads to a file that exists', () => {
    const paths = new Set(FILES.map(({ path }) => path));
    expect(FILES.length).toBeGreaterThan(80);
    expect(FILES.flatMap(({ imports }) => imports.filter(isOwn)).length).toBeGreaterThan(200);
    expect(offences((_, each) => isOwn(each) && !paths.has(each.to))).toEqual([]);
  });

  test('stand in rooms that the layout knows', () => {
    const rooms = new Set(FILES.filter(({ path }) => path !== 'index.ts').map(({ path }) => roomOf(path)));
    expect([...rooms].filter((room) => MAY_IMPORT[room] === undefined)).toEqual([]);
  });

  test('run one way only, from the words to the composition root', () => {
    expect(
      offences(({ path }, each) => {
        const [from, to] = [roomOf(path), roomOf(each.to)];
        return path !== 'index.ts' && isOwn(each) && from !== to && MAY_IMPORT[from]?.includes(to) !== true;
      }),
    ).toEqual([]);
  });

  test('give parsing, planning and declaring the words of other steps as types only', () => {
    const readers = ['request/parsing', 'request/planning'];
    expect(
      offences(
        ({ path }, each) =>
          readers.includes(roomOf(path)) && STEPS.includes(roomOf(each.to)) && !each.typeOnly,
      ),
    ).toEqual([]);
    expect(
      offences(
        ({ path }, each) => roomOf(path) === 'declare' && roomOf(each.to) !== 'declare' && !each.typeOnly,
      ),
    ).toEqual([]);
  });

  test('name typeorm in its adapter and where boot puts the two together only', () => {
    const allowed = (path: string): boolean =>
      path.startsWith('adapters/typeorm/') ||
      ['boot/boot-prefix.ts', 'boot/controller-hooks.ts', 'boot/resource-controller.ts'].includes(path) ||
      path === 'restify.module.ts';
    const named = FILES.filter(({ imports }) =>
      imports.some(({ to }) => to === 'typeorm' || to.startsWith('typeorm/')),
    ).map(({ path }) => path);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !allowed(path))).toEqual([]);
  });

  test('name Nest and Express in the rooms of boot that meet them only', () => {
    const allowed = (path: string): boolean =>
      ['boot', 'boot/routing', 'adapters/throttler', 'restify.module'].includes(roomOf(path));
    const named = FILES.filter(({ imports }) =>
      imports.some(({ to }) => to.startsWith('@nestjs/') || to === 'express' || to === 'fastify'),
    ).map(({ path }) => path);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !allowed(path))).toEqual([]);
  });

  test('form no cycle that runs', () => {
    expect(cycles((each) => isOwn(each) && !each.typeOnly)).toEqual([]);
  });

  test('form no cycle at all, but for the types of the recursive model', () => {
    const outsideModel = cycles(isOwn).filter(
      (cycle) => !cycle.split(' <-> ').every((path) => path.startsWith('model/')),
    );
    expect(outsideModel).toEqual([]);
  });
});

/** The groups of files that reach each other, each as one line; by Tarjan's walk. */
function cycles(follows: (each: Import) => boolean): readonly string[] {
  const graph = new Map(
    FILES.map(({ path, imports }) => [path, imports.filter(follows).map(({ to }) => to)]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[] = [];
  const walk = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.size - 1);
    stack.push(path);
    for (const to of graph.get(path) ?? []) {
      if (!order.has(to)) walk(to);
      if (stack.includes(to)) lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(to) ?? 0));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1 || graph.get(path)?.includes(path) === true) groups.push(group.sort().join(' <-> '));
  };
  for (const path of graph.keys()) if (!order.has(path)) walk(path);
  return groups;
}

const EXPORTED_VALUES = [
  'Action',
  'ActorPermissionSource',
  'AllowAny',
  'ChildPk',
  'CurrentActor',
  'DeclarationError',
  'FieldFilter',
  'FilterSet',
  'CursorPagination',
  'IdempotencyRecord',
  'InvalidInput',
  'InvalidPage',
  'JsonServerFilter',
  'JsonServerOrdering',
  'JsonServerPagination',
  'JsonServerSearch',
  'LimitOffsetPagination',
  'PageNumberPagination',
  'IsAdmin',
  'IsAuthenticated',
  'IsAuthenticatedOrReadOnly',
  'MANY_TO_MANY_DETAIL_ACTION',
  'MANY_TO_MANY_LIST_ACTION',
  'ModelPermissions',
  'ModelPermissionsOrAnonReadOnly',
  'ModelSerializer',
  'NestedAction',
  'NotFound',
  'ONE_TO_MANY_LIST_ACTION',
  'OrderingFilter',
  'ParentPk',
  'Pk',
  'PermissionDenied',
  'PermissionSource',
  'ResourceController',
  'RestError',
  'Restify',
  'RestifyController',
  'RestifyModule',
  'RestifyOpenApi',
  'RestifyOperations',
  'RestifyResources',
  'RestifyUrls',
  'SearchFilter',
  'allOf',
  'allow',
  'and',
  'anyOf',
  'basic',
  'deny',
  'guard',
  'hide',
  'isRestError',
  'not',
  'or',
  'restify',
  'secretsEqual',
  'strategy',
  'where',
  'CsvRenderer',
  'NdjsonRenderer',
];
const EXPORTED_TYPES = [
  'ShapeOptions',
  'BulkOperation',
  'BulkOptions',
  'ChallengeOptions',
  'ConditionalOptions',
  'IdempotencyOptions',
  'CountKind',
  'Counted',
  'CursorOptions',
  'CursorPosition',
  'DescribedValue',
  'ExpandPathOf',
  'JsonServerOptions',
  'LimitOffsetOptions',
  'Page',
  'PageAnswer',
  'PageContext',
  'PageLink',
  'PageNumberOptions',
  'PageOptions',
  'PageQuestion',
  'PageRequest',
  'PageSchema',
  'PageWindow',
  'Pagination',
  'PaginationDescription',
  'PaginationProblem',
  'AccessQuestion',
  'ActionMethod',
  'ActionOptions',
  'Actor',
  'ActorOperations',
  'Allowance',
  'Authentication',
  'AuthenticationThrottle',
  'BasicAuthentication',
  'Credentials',
  'DeclarationProblem',
  'Field',
  'FieldErrors',
  'FieldSet',
  'FieldType',
  'FilterBackend',
  'FilterParameters',
  'FilterQuestion',
  'Filtering',
  'Grant',
  'GuardLike',
  'Hiding',
  'HookQuestion',
  'InterceptorLike',
  'Json',
  'KeyInput',
  'ListKind',
  'Lookup',
  'Method',
  'NamedAuthentication',
  'NestedActionKind',
  'NestedActionOptions',
  'Operation',
  'ParseContext',
  'ParsedBody',
  'OwnFilter',
  'ParameterKind',
  'ParameterNames',
  'QueryLimits',
  'PathOf',
  'Permission',
  'PermissionClass',
  'PermissionExpression',
  'PipeLike',
  'PropertyOf',
  'Refusal',
  'RepresentContext',
  'Representation',
  'Resource',
  'ResourceAccess',
  'ResourceOptions',
  'RestErrorAnswer',
  'RestifyModuleAsyncOptions',
  'RestifyModuleOptions',
  'RestifyOptions',
  'ReverseOptions',
  'Row',
  'RowFilter',
  'Serializer',
  'Throttle',
  'UrlParameters',
  'VerifyBasic',
  'Write',
  'WriteOperation',
  'ErrorFormat',
  'RenderedRows',
  'Renderer',
];

describe('the public API', () => {
  test('has these names and no others', () => {
    const names: string[] = [];
    const index = FILES.find(({ path }) => path === 'index.ts');
    for (const statement of index?.tree.statements ?? []) {
      if (!ts.isExportDeclaration(statement)) continue;
      if (statement.exportClause && ts.isNamedExports(statement.exportClause))
        names.push(...statement.exportClause.elements.map((each) => each.name.text));
    }
    expect(names.sort()).toEqual([...EXPORTED_VALUES, ...EXPORTED_TYPES].sort());
    expect(Object.keys(library).sort()).toEqual([...EXPORTED_VALUES].sort());
  });

  test('writes every name out: nothing is exported by a star, nor made in the index', () => {
    const starred = FILES.filter(({ tree }) =>
      tree.statements.some(
        (each) =>
          ts.isExportDeclaration(each) && (!each.exportClause || ts.isNamespaceExport(each.exportClause)),
      ),
    );
    expect(starred.map(({ path }) => path)).toEqual([]);
    const made = FILES.find(({ path }) => path === 'index.ts')?.tree.statements.filter(
      (each) => !ts.isExportDeclaration(each) && !ts.isImportDeclaration(each),
    );
    expect(made).toEqual([]);
  });
});

describe('the source', () => {
  test('says `any` only where it faces types that an author brings, and says why there', () => {
    expect(places((node) => node.kind === ts.SyntaxKind.AnyKeyword)).toEqual([
      'boot/resource-controller.ts',
      'declare/restify-declaration.ts',
      'restify.module.ts',
    ]);
    const unexplained = FILES.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter(
          (line) => line.includes('eslint-disable') && !/eslint-disable-(next-)?line \S+ -- \S/.test(line),
        )
        .map((line) => `${path}: ${line}`),
    );
    expect(unexplained).toEqual([]);
    expect(
      FILES.filter(({ text }) => /@ts-(ignore|nocheck|expect-error)/.test(text)).map(({ path }) => path),
    ).toEqual([]);
  });

  test('makes no code from text', () => {
    const makers = ['eval', 'Function'];
    const called = (node: ts.Node): boolean =>
      (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
      ts.isIdentifier(node.expression) &&
      makers.includes(node.expression.text);
    const reached = (node: ts.Node): boolean =>
      ts.isPropertyAccessExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'globalThis' &&
      makers.includes(node.name.text);
    expect(places((node) => called(node) || reached(node))).toEqual([]);
    expect(offences((_, { to }) => to === 'node:vm' || to === 'vm')).toEqual([]);
  });
});

/** The files in which a node of this kind stands, once for each. */
function places(isWanted: (node: ts.Node) => boolean): readonly string[] {
  return FILES.flatMap(({ path, tree }) => {
    const found: string[] = [];
    visit(tree, (node) => {
      if (isWanted(node)) found.push(path);
    });
    return found;
  });
}
