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
  /** Below `src/`: `core/schema/field.ts`. */
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

const NESTED = ['features', 'adapters'];

/** The unit of the import rules: a folder of `src/`, or of `features/` and `adapters/`; or a file of `src/` itself. */
function folderOf(path: string): string {
  const [first = '', second = '', third] = path.split('/');
  if (second === '') return first.replace(/\.ts$/, '');
  return NESTED.includes(first) && third !== undefined ? `${first}/${second}` : first;
}

const FEATURE = ['core', 'request', 'execution'];

/**
 * What each folder may import from `src/`, beside its own files: the layout of ARCHITECTURE.md, from the bottom to the top.
 * A folder that is missing here may not exist.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  internals: ['core'],
  decorators: ['core'],
  'restify.options': ['core', 'decorators'],
  compiler: ['core', 'decorators', 'internals', 'restify.options'],
  sql: ['core'],
  execution: ['core', 'internals', 'sql'],
  request: ['core', 'execution'],
  'features/authentication': FEATURE,
  'features/permissions': FEATURE,
  'features/rendering': FEATURE,
  'features/filtering': [...FEATURE, 'features/permissions'],
  'features/aggregates': [...FEATURE, 'features/filtering', 'features/labels', 'features/permissions'],
  'features/serialization': [...FEATURE, 'features/permissions'],
  'features/pagination': [...FEATURE, 'features/serialization'],
  'features/idempotency': [...FEATURE, 'features/serialization'],
  'features/field-selection': [...FEATURE, 'features/permissions', 'features/serialization'],
  'features/conditional-requests': [...FEATURE, 'features/permissions', 'features/serialization'],
  'features/labels': [
    ...FEATURE,
    'features/field-selection',
    'features/permissions',
    'features/serialization',
  ],
  'features/bulk': [
    ...FEATURE,
    'features/conditional-requests',
    'features/field-selection',
    'features/filtering',
    'features/idempotency',
    'features/permissions',
  ],
  pipeline: ['core', 'request', 'execution', 'features'],
  'adapters/class-transformer': ['core'],
  'adapters/class-validator': ['core'],
  'adapters/passport': ['core', 'features/authentication', 'internals'],
  'adapters/throttler': ['core'],
  'adapters/typeorm': ['core', 'sql', 'execution', 'internals'],
  openapi: ['core', 'request', 'features'],
  http: ['core', 'internals', 'restify.options', 'request', 'features', 'pipeline', 'openapi'],
  nest: [
    'core',
    'decorators',
    'internals',
    'restify.options',
    'compiler',
    'execution',
    'request',
    'features',
    'pipeline',
    'adapters',
    'openapi',
    'http',
  ],
  'restify.module': ['core', 'decorators', 'internals', 'restify.options', 'http', 'nest'],
};

/** `features` names each folder below it. */
function mayImport(from: string, to: string): boolean {
  const allowed = MAY_IMPORT[from] ?? [];
  return allowed.includes(to) || allowed.includes(to.split('/')[0] ?? to);
}

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

  test('are in folders of the layout', () => {
    const folders = FILES.filter(({ path }) => path !== 'index.ts').map(({ path }) => folderOf(path));
    expect([...new Set(folders)].filter((folder) => MAY_IMPORT[folder] === undefined)).toEqual([]);
  });

  test('run one way only, from the composition root to core', () => {
    expect(
      offences(({ path }, each) => {
        const [from, to] = [folderOf(path), folderOf(each.to)];
        return path !== 'index.ts' && isOwn(each) && from !== to && !mayImport(from, to);
      }),
    ).toEqual([]);
  });

  test('of the decorators are types only', () => {
    expect(
      offences(
        ({ path }, each) =>
          folderOf(path) === 'decorators' && folderOf(each.to) !== 'decorators' && !each.typeOnly,
      ),
    ).toEqual([]);
  });

  test('name typeorm in its adapter and where the application is put together only', () => {
    const allowed = (path: string): boolean =>
      path.startsWith('adapters/typeorm/') ||
      [
        'nest/boot-context.ts',
        'nest/bootstrap.ts',
        'nest/controller-hooks.ts',
        'nest/resource.controller.ts',
        'nest/restify-resources.service.ts',
      ].includes(path) ||
      path === 'restify.module.ts';
    const named = FILES.filter(({ imports }) =>
      imports.some(({ to }) => to === 'typeorm' || to.startsWith('typeorm/')),
    ).map(({ path }) => path);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !allowed(path))).toEqual([]);
  });

  test('name Nest, Express and Fastify where the application meets them only', () => {
    const allowed = (path: string): boolean =>
      ['nest', 'http', 'adapters/throttler', 'restify.module'].includes(folderOf(path));
    const named = FILES.filter(({ imports }) =>
      imports.some(({ to }) => to.startsWith('@nestjs/') || to === 'express' || to === 'fastify'),
    ).map(({ path }) => path);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !allowed(path))).toEqual([]);
  });

  test('form no cycle that runs', () => {
    expect(cycles((each) => isOwn(each) && !each.typeOnly)).toEqual([]);
  });

  test('form no cycle at all, but for the types of the schema, whose relations lead to schemas', () => {
    expect(cycles(isOwn)).toEqual([
      'core/contracts/filters.ts <-> core/query/condition.ts <-> core/schema/field.ts <-> core/schema/relation.ts <-> core/schema/resource-schema.ts',
    ]);
  });
});

/** esbuild, which bundles the package, does not emit the types of parameters, from which Nest would take the tokens. */
test('constructors that Nest calls name the token of each parameter', () => {
  const parameters = FILES.flatMap(({ path, tree }) =>
    injectedParameters(tree).map((parameter) => ({ path, parameter })),
  );
  expect(parameters.length).toBeGreaterThan(5);
  const withoutToken = parameters.filter(({ parameter }) => !hasDecorator(parameter, 'Inject'));
  expect(withoutToken.map(({ path, parameter }) => `${path}: ${parameter.getText()}`)).toEqual([]);
});

function injectedParameters(tree: ts.SourceFile): readonly ts.ParameterDeclaration[] {
  const found: ts.ParameterDeclaration[] = [];
  visit(tree, (node) => {
    if (!ts.isClassDeclaration(node)) return;
    if (!['Injectable', 'Module', 'Catch', 'Controller'].some((name) => hasDecorator(node, name))) return;
    for (const member of node.members)
      if (ts.isConstructorDeclaration(member)) found.push(...member.parameters);
  });
  return found;
}

function hasDecorator(node: ts.ClassDeclaration | ts.ParameterDeclaration, name: string): boolean {
  return (ts.getDecorators(node) ?? []).some(
    ({ expression }) => ts.isCallExpression(expression) && expression.expression.getText() === name,
  );
}

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
  'RestException',
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
  'isRestException',
  'not',
  'or',
  'restify',
  'timingSafeEqual',
  'strategy',
  'where',
  'CsvRenderer',
  'NdjsonRenderer',
  'DESCRIPTION_MEDIA_TYPE',
];
const EXPORTED_TYPES = [
  'FieldSelectionOptions',
  'BulkOperation',
  'BulkOptions',
  'ChallengeOptions',
  'ConditionalOptions',
  'IdempotencyOptions',
  'CountKind',
  'CountResult',
  'CsvOptions',
  'CursorOptions',
  'CursorPosition',
  'DescribedValue',
  'ExpandPathOf',
  'ExpandedFields',
  'JsonServerOptions',
  'LimitOffsetOptions',
  'Page',
  'PageResponse',
  'PageContext',
  'PageLink',
  'PageNumberOptions',
  'PageOptions',
  'PageQuery',
  'PageRequest',
  'PageSchema',
  'PageWindow',
  'Pagination',
  'PaginationDescription',
  'PaginationProblem',
  'AccessContext',
  'ActionMethod',
  'ActionOptions',
  'Actor',
  'ActorOperations',
  'ActorOptions',
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
  'FilterContext',
  'FilterResult',
  'FullTextOptions',
  'Grant',
  'GuardLike',
  'Hiding',
  'HookContext',
  'AfterCommit',
  'CommitContext',
  'CommittedWrite',
  'StoredValues',
  'InterceptorLike',
  'Json',
  'JsonPathFilter',
  'KeyInput',
  'ListKind',
  'Lookup',
  'Method',
  'NamedAuthentication',
  'NestedActionKind',
  'NestedActionOptions',
  'Operation',
  'OpenApiOptions',
  'ParentDescription',
  'ParseContext',
  'ParsedBody',
  'CustomFilter',
  'ParameterKind',
  'ParameterNames',
  'QueryLimits',
  'PathOf',
  'Permission',
  'PermissionClass',
  'PermissionExpression',
  'PipeLike',
  'PropertyOf',
  'Denial',
  'RepresentContext',
  'Representation',
  'Resource',
  'ResourceSchema',
  'ResourceAccess',
  'ResourceOptions',
  'RestErrorResponse',
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
  'WriteHooks',
  'WriteOperation',
  'ErrorContext',
  'ErrorFormat',
  'ErrorListener',
  'RenderedRows',
  'Renderer',
  'ActionDescription',
  'AggregateGroup',
  'AggregateOptions',
  'AggregateQuery',
  'AggregatesDescription',
  'BrowsableOptions',
  'BulkDescription',
  'ChildrenDescription',
  'ChoiceDescription',
  'ConditionalDescription',
  'FieldDescription',
  'FilterDescription',
  'IndexDescription',
  'IndexUse',
  'MissingIndex',
  'MissingIndexOptions',
  'ModelLabels',
  'IndexedModel',
  'NestedDescription',
  'OrderingDescription',
  'PageDocuments',
  'PageLogin',
  'PageMessages',
  'PaginationParameters',
  'ReadableFieldDescription',
  'RelationDescription',
  'RouteDescription',
  'SearchDescription',
  'ShapeDescription',
  'TrashDescription',
  'ValueKind',
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
  test('uses `any` only for types of the application, with a comment', () => {
    expect(places((node) => node.kind === ts.SyntaxKind.AnyKeyword)).toEqual([
      'decorators/model-options.ts',
      'nest/resource.controller.ts',
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
