import { BUILT_IN, deletionOf } from '../schema.js';
import type {
  AnswerSpec,
  EntitySpec,
  Json,
  LookupName,
  PermissionSpec,
  RowsSpec,
  SchemaSpec,
} from '../schema.js';
import { isPlainKind, isStringKind, limitsOf, parseValue } from '../model/values.js';
import type { Random } from './random.js';
import { rightValue } from './values.js';

/** The permissions of a model: built-in ones, and classes that grant rows and fields. */
export function makePermissions(random: Random, entity: EntitySpec, schema: SchemaSpec): PermissionSpec[] {
  const first = makePermission(random, entity, schema);
  return random.chance(0.25) ? [first, makePermission(random, entity, schema)] : [first];
}

function makePermission(random: Random, entity: EntitySpec, schema: SchemaSpec): PermissionSpec {
  const own = (): PermissionSpec => makeOwn(random, entity, schema);
  const builtIn = (): PermissionSpec => ({ kind: 'built-in', name: random.pick(BUILT_IN) });
  switch (random.weighted({ own: 6, 'built-in': 3, 'any-of': 2, 'all-of': 2.5, not: 0.5 })) {
    case 'own':
      return own();
    case 'any-of':
      return { kind: 'any-of', of: [builtIn(), own()] };
    case 'all-of':
      return { kind: 'all-of', of: [random.chance(0.3) ? builtIn() : own(), own()] };
    case 'not':
      return { kind: 'not', of: builtIn() };
    default:
      return builtIn();
  }
}

function makeOwn(random: Random, entity: EntitySpec, { actors }: SchemaSpec): PermissionSpec {
  const trash = (): { trash?: AnswerSpec } =>
    deletionOf(entity) && random.chance(0.6) ? { trash: makeAnswer(random, entity) } : {};
  const both = (): {
    read: AnswerSpec;
    write: AnswerSpec;
    trash?: AnswerSpec;
    remove?: AnswerSpec;
    aggregate?: AnswerSpec;
  } => ({
    read: makeAnswer(random, entity),
    write: makeAnswer(random, entity),
    ...(random.chance(0.3) ? { remove: makeAnswer(random, entity) } : {}),
    ...(random.chance(0.3) ? { aggregate: makeAnswer(random, entity) } : {}),
    ...trash(),
  });
  const same = (): { read: AnswerSpec; write: AnswerSpec; trash?: AnswerSpec } => {
    const answer = makeAnswer(random, entity);
    return { read: answer, write: answer, ...trash() };
  };
  const [first] = actors;
  return {
    kind: 'own',
    answers: {
      ...(first ? { [first.name]: { read: { kind: 'allow' }, write: { kind: 'allow' } } } : {}),
      anonymous: random.chance(0.5) ? both() : same(),
      '*': random.chance(0.5) ? both() : same(),
    },
    ...(random.chance(0.15) ? { delay: random.between(0, 5) } : {}),
  };
}

function makeAnswer(random: Random, entity: EntitySpec): AnswerSpec {
  if (random.chance(0.12)) return { kind: 'deny' };
  if (random.chance(0.08)) return { kind: 'deny', hides: 'rows' };
  if (random.chance(0.05)) return { kind: 'hide' };
  const free = [...entity.columns, ...entity.relations].map(({ name }) => name);
  const keys = entity.key.columns.map(({ name }) => name);
  return {
    kind: 'allow',
    ...(random.chance(0.5) ? { rows: makeRows(random, entity, 2) } : {}),
    ...(random.chance(0.25) ? { readable: [...keys, ...random.some(free, 0.7)] } : {}),
    ...(random.chance(0.2) ? { writable: writableOf(random, entity) } : {}),
  };
}

/** All required fields, and some others. */
function writableOf(random: Random, entity: EntitySpec): string[] {
  const needed = [
    ...entity.key.columns.map(({ name }) => name),
    ...entity.columns
      .filter((column) => !column.nullable && column.default === undefined)
      .map(({ name }) => name),
    ...entity.relations.filter((each) => each.kind === 'to-one' && !each.nullable).map(({ name }) => name),
  ];
  const others = [...entity.columns, ...entity.relations].map(({ name }) => name);
  return [...new Set([...needed, ...random.some(others, 0.5)])];
}

function makeRows(random: Random, entity: EntitySpec, depth: number): RowsSpec {
  if (depth > 0 && random.chance(0.3)) {
    const filters = [makeRows(random, entity, depth - 1), makeRows(random, entity, depth - 1)];
    return random.chance(0.3)
      ? { kind: 'not', filter: makeRows(random, entity, depth - 1) }
      : { kind: random.pick(['and', 'or'] as const), filters };
  }
  const columns = entity.columns.filter(({ kind }) => isPlainKind(kind) && kind !== 'version');
  if (columns.length === 0) return { kind: 'and', filters: [] };
  const column = random.pick(columns);
  const lookup = isStringKind(column.kind)
    ? random.pick<LookupName>(['exact', 'icontains', 'ne', 'startswith', 'gte'])
    : random.pick<LookupName>(['exact', 'ne', 'isnull']);
  const outcome = parseValue(rightValue(random, column), column, limitsOf('postgres'));
  const value: Json = 'value' in outcome ? outcome.value : '';
  return {
    kind: 'where',
    path: column.name,
    lookup,
    value: lookup === 'isnull' ? random.chance(0.5) : value,
  };
}
