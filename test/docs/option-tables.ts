import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { RestifyOptions } from '../../src/decorators/model-options.js';
import type { RestifyModuleOptions, SharedOption } from '../../src/restify.options.js';
import { PROJECT } from './document.js';

/** An option, from the member of the interface and its docstring. */
export interface DescribedOption {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
  /** What the docstring says behind `Default:`. */
  readonly otherwise: string;
}

type Places<Name extends string> = Readonly<Record<Name, string>>;

/** Where docs/reference describes options that prefixes and models have in common. */
const SHARED_PLACES: Places<SharedOption> = {
  filterBackends: 'queries.md#filter-backends',
  pagination: 'pagination.md',
  renderers: 'formats.md',
  shape: 'fields-and-expansion.md#options',
  conditional: 'conditional-requests.md',
  cacheControl: 'conditional-requests.md#caches',
  idempotency: 'idempotency.md',
  strict: 'declaring.md#strict',
  returnDeleted: 'declaring.md#returndeleted',
  queryLimits: 'limits.md#queries',
  expansionQueries: 'fields-and-expansion.md#filters-order-and-limit-of-expanded-lists',
  query: 'queries.md#long-queries-by-query',
  parameters: 'filters.md#renaming-query-parameters',
  permissions: 'permissions.md',
  authentication: 'permissions.md#authentication',
  guards: 'permissions.md#guards',
  interceptors: 'overriding.md#interceptors-and-pipes-for-a-model',
  pipes: 'overriding.md#interceptors-and-pipes-for-a-model',
  throttle: 'permissions.md#rate-limiting',
};

const PREFIX_PLACES: Places<Exclude<keyof RestifyModuleOptions, SharedOption>> = {
  dataSource: 'configuration.md#several-data-sources',
  acquireTimeout: 'faults.md#timeouts',
  statementTimeout: 'faults.md#statement-timeout-and-cancellation',
  shutdownGrace: 'faults.md#graceful-shutdown',
  fairShare: 'scaling.md#fair-share-of-the-pool',
  triggerMessages: '../contract.md#21-database-failures-and-time-limits',
  unknownEntities: 'errors-at-start.md#entities-without-a-data-source',
  missingIndexRows: 'queries.md#missing-indexes',
  index: 'configuration.md#forroot',
  browsable: 'browsable.md#options',
  errorFormat: 'formats.md#problem-details-rfc-9457',
  onError: 'observability.md#errors',
  hooks: 'overriding.md#hooks-for-every-model',
  afterCommit: 'overriding.md#after-the-commit',
  refusalsHide: 'permissions.md#custom-permission-classes',
  authenticationTimeout: 'permissions.md#authentication',
  authenticationThrottle: 'permissions.md#rejected-credentials',
  trustedOrigins: 'permissions.md#cross-site-requests',
};

const MODEL_PLACES: Places<Exclude<keyof RestifyOptions, SharedOption>> = {
  app: 'declaring.md#app-and-name',
  name: 'declaring.md#app-and-name',
  description: 'browsable.md#descriptions',
  label: 'browsable.md#labels',
  labels: 'browsable.md#labels',
  fields: 'declaring.md#fields-and-exclude',
  exclude: 'declaring.md#fields-and-exclude',
  readOnly: 'declaring.md#readonly-and-writeonly',
  writeOnly: 'declaring.md#readonly-and-writeonly',
  optional: 'declaring.md#optional',
  trim: 'declaring.md#trim',
  type: 'declaring.md#type',
  listenerRelations: 'declaring.md#listenerrelations',
  computed: 'declaring.md#computed',
  operations: 'declaring.md#operations',
  filterFields: 'queries.md#filters',
  filterGroups: 'filters.md#filter-groups',
  filters: 'filters.md#custom-filters',
  searchFields: 'queries.md#search',
  fullText: 'queries.md#ranked-search',
  orderingFields: 'queries.md#ordering',
  orderingNulls: 'queries.md#nulls',
  ordering: 'queries.md#ordering',
  aggregate: 'aggregates.md',
  expandable: 'fields-and-expansion.md#expansion',
  counts: 'fields-and-expansion.md#counts-of-related-objects',
  relatedKeys: 'relations.md#related-keys',
  nested: 'nested-writes.md',
  bulk: 'bulk-writes.md',
  serializer: 'serializers.md',
  trash: 'relations.md#the-trash',
  mergePatch: 'declaring.md#mergepatch',
  responses: 'declaring.md#responses',
  through: 'declaring.md#through',
};

const PREFIX_FILE = 'src/restify.options.ts';
const MODEL_FILE = 'src/decorators/model-options.ts';

export function modelOptions(): readonly (readonly string[])[] {
  const options = describeOptions(readSource(MODEL_FILE), 'RestifyOptions');
  return toRows(options, { ...SHARED_PLACES, ...MODEL_PLACES }, 'declaring.md');
}

/** The options of `forRoot` that models do not have. */
export function prefixOptions(): readonly (readonly string[])[] {
  const options = describePrefixOptions().filter(({ name }) => !Object.hasOwn(SHARED_PLACES, name));
  return toRows(options, PREFIX_PLACES, 'configuration.md');
}

/** The options of `forRoot` that models have, too. */
export function defaultsOfModels(): readonly (readonly string[])[] {
  const options = describePrefixOptions().filter(({ name }) => Object.hasOwn(SHARED_PLACES, name));
  return toRows(options, SHARED_PLACES, 'configuration.md');
}

export function describePrefixOptions(): readonly DescribedOption[] {
  return describeOptions(readSource(PREFIX_FILE), 'RestifyModuleOptions');
}

function readSource(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8');
}

/** The members of an interface; what lacks a docstring, or a default in it, has an empty text there. */
export function describeOptions(source: string, name: string): readonly DescribedOption[] {
  const tree = ts.createSourceFile('options.ts', source, ts.ScriptTarget.Latest, true);
  const found = tree.statements.find(
    (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
  );
  return (found?.members ?? []).flatMap((member) => {
    if (!ts.isPropertySignature(member)) return [];
    const [meaning = '', otherwise = ''] = docstringOf(member).split(' Default: ');
    const type = toShortType(member.type?.getText(tree) ?? '');
    return [{ name: member.name.getText(tree), type, meaning, otherwise: otherwise.replace(/\.$/, '') }];
  });
}

function docstringOf(member: ts.PropertySignature): string {
  const [comment] = ts.getJSDocCommentsAndTags(member);
  const text = comment && ts.isJSDoc(comment) ? ts.getTextOfJSDocComment(comment.comment) : undefined;
  return (text ?? '').replaceAll(/\s+/g, ' ');
}

/** A type without what a reader of a table does not need: `readonly`, the entity, and names of type parameters. */
function toShortType(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\breadonly /g, '')
    .replaceAll(/LookupAt<Entity, Path>/g, 'Lookup')
    .replaceAll(/<Entity>/g, '')
    .replaceAll(/\[\w+ in (\w+)\]\?/g, '[$1]')
    .replaceAll(/InjectableClass</g, 'Class<')
    .replace(/^\| /, '');
}

function toRows(
  options: readonly DescribedOption[],
  places: Readonly<Record<string, string>>,
  page: string,
): readonly (readonly string[])[] {
  const rows = options.map(({ name, type, meaning, otherwise }) => {
    const place = (places[name] ?? '').replace(new RegExp(`^${page}(?=#)`), '');
    const cells = [`[\`${name}\`](${place})`, `\`${type}\``, meaning, otherwise];
    return cells.map((cell) => cell.replaceAll('|', '\\|'));
  });
  return [['option', 'type', 'meaning', 'default'], ...rows];
}
