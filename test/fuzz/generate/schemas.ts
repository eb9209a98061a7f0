import type {
  ActorSpec,
  ColumnKind,
  ColumnSpec,
  EntitySpec,
  ManySpec,
  RelationSpec,
  ReverseSpec,
  SchemaSpec,
  ToOneSpec,
} from '../schema.js';
import { optionsFor } from './options.js';
import type { Random } from './random.js';
import { polymorphicEntities, tenantEntities } from './shared.js';
import type { SharedNaming } from './shared.js';

const WORDS = ['alpha', 'beta', 'gamma', 'delta'];
const KINDS: Readonly<Partial<Record<ColumnKind, number>>> = {
  int: 5,
  varchar: 5,
  text: 2,
  boolean: 3,
  bigint: 1,
  decimal: 2,
  double: 1,
  date: 2,
  datetime: 2,
  enum: 2,
  json: 3,
  list: 1,
};
export const CHOICES = ['high', 'low', 'mid'];

/** The schema of one client; `number` makes its names unique. */
export function makeSchema(random: Random, number: number, database: string): SchemaSpec {
  const app = `c${number}`;
  const family = random.weighted({ plain: 7, tenant: 3, polymorphic: 1 });
  const related = makeEntities(random, family, { app, number, database });
  const actors = makeActors(random, app, related);
  const bare: SchemaSpec = { entities: related, actors };
  const entities = related.map((entity) => ({
    ...entity,
    ...optionsFor(random, entity, { schema: bare, isOpen: family !== 'plain' }),
  }));
  return { actors, entities: withoutRequirements(entities) };
}

/** Models whose objects bodies of other models write may require neither `If-Match` nor a key of a request. */
function withoutRequirements(entities: readonly EntitySpec[]): EntitySpec[] {
  const written = new Set(
    entities.flatMap(({ relations, options }) =>
      relations.flatMap((relation) => {
        const isWritten = relation.kind === 'many-to-many' && options.relatedKeys?.includes(relation.name);
        if (options.nested?.[relation.name]) return [relation.target];
        return isWritten && relation.through ? [relation.through.entity] : [];
      }),
    ),
  );
  return entities.map((entity) => {
    const { conditional, idempotency } = entity.options;
    if (!written.has(entity.name)) return entity;
    return {
      ...entity,
      options: {
        ...entity.options,
        ...(conditional ? { conditional: { require: false } } : {}),
        ...(idempotency ? { idempotency: { require: false } } : {}),
      },
    };
  });
}

function makeEntities(
  random: Random,
  family: 'plain' | 'tenant' | 'polymorphic',
  naming: Naming,
): EntitySpec[] {
  const { app, number } = naming;
  const shared: SharedNaming = {
    app,
    className: (word) => className(number, word),
    makeColumn: (name) => makeColumn(random, name),
  };
  if (family === 'tenant') return tenantEntities(random, shared);
  if (family === 'polymorphic') return polymorphicEntities(random, shared);
  const words = WORDS.slice(0, random.between(2, 4));
  const plain = words.map((word) =>
    plainEntity(random, { ...naming, word, className: className(number, word) }),
  );
  return relate(random, plain, naming);
}

function className(number: number, word: string): string {
  return `C${number}${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`;
}

function makeActors(random: Random, app: string, entities: readonly EntitySpec[]): ActorSpec[] {
  const rights = entities.flatMap(({ model }) =>
    ['view', 'add', 'change', 'delete', 'view_deleted', 'restore', 'purge'].map(
      (right) => `${app}.${right}_${model}`,
    ),
  );
  const delay = random.chance(0.2) ? { delay: random.between(0, 8) } : {};
  return [
    { name: `${app}ada`, permissions: rights, ...delay },
    { name: `${app}eve`, permissions: random.some(rights, 0.6) },
    { name: `${app}root`, isAdmin: true, permissions: [] },
  ];
}

function plainEntity(
  random: Random,
  { app, word, className, database }: Naming & { readonly word: string; readonly className: string },
): EntitySpec {
  const columns: ColumnSpec[] = [];
  for (let index = random.between(1, 5); index > 0; index--) columns.push(makeColumn(random, `f${index}`));
  // Upserts need a unique column.
  if (!columns.some(({ unique }) => unique) && random.chance(0.5))
    columns.push({ name: 'mark', kind: 'varchar', length: 20, unique: true });
  if (random.chance(0.2)) columns.push({ name: 'version', kind: 'version' });
  // SQLite needs a table and triggers for it.
  if (database !== 'sqlite' && random.chance(0.4))
    columns.push({ name: 'words', kind: 'text', searched: true, nullable: random.chance(0.3) });
  if (random.chance(0.4)) columns.push({ name: 'gone', kind: 'deletion', nullable: true });
  return {
    name: className,
    app,
    model: random.chance(0.5) ? word : className.toLowerCase(),
    registered: true,
    key: makeKeyColumns(random, database),
    columns,
    relations: [],
    uniques: random.chance(0.25) ? uniquePair(columns) : [],
    options: {},
    through: {},
  };
}

function makeKeyColumns(random: Random, database: string): EntitySpec['key'] {
  switch (random.weighted({ serial: 6, text: 2, uuid: database === 'postgres' ? 1 : 0, pair: 1 })) {
    case 'serial':
      return { generated: true, columns: [{ name: 'id', kind: 'int' }] };
    case 'text':
      return { generated: false, columns: [{ name: 'code', kind: 'varchar', length: 20 }] };
    case 'uuid':
      return { generated: true, columns: [{ name: 'id', kind: 'uuid' }] };
    default:
      return {
        generated: false,
        columns: [
          { name: 'land', kind: 'varchar', length: 10 },
          { name: 'number', kind: 'int' },
        ],
      };
  }
}

function makeColumn(random: Random, name: string): ColumnSpec {
  const kind = random.weighted(KINDS);
  const sized: ColumnSpec = {
    name,
    kind,
    ...(kind === 'varchar' ? { length: random.pick([5, 20]) } : {}),
    ...(kind === 'enum' ? { values: CHOICES } : {}),
  };
  if (['int', 'varchar', 'date'].includes(kind) && random.chance(0.15)) return { ...sized, unique: true };
  if (random.chance(0.4)) return { ...sized, nullable: true };
  const byDefault = random.chance(0.3) ? defaultFor(kind) : undefined;
  return byDefault === undefined ? sized : { ...sized, default: byDefault };
}

function defaultFor(kind: ColumnKind): ColumnSpec['default'] {
  const defaults: Readonly<Partial<Record<ColumnKind, ColumnSpec['default']>>> = {
    int: 7,
    varchar: 'new',
    boolean: false,
    enum: 'low',
    decimal: '1.50',
    double: 0.5,
    bigint: '12',
    date: '2020-01-02',
  };
  return defaults[kind];
}

function uniquePair(columns: readonly ColumnSpec[]): string[][] {
  const names = columns
    .filter(({ kind }) => ['int', 'varchar', 'boolean', 'enum'].includes(kind))
    .map(({ name }) => name);
  return names.length >= 2 ? [names.slice(0, 2)] : [];
}

interface Naming {
  readonly database: string;
  readonly app: string;
  readonly number: number;
}

/** Adds relations of every kind between the entities. */
function relate(random: Random, entities: readonly EntitySpec[], naming: Naming): EntitySpec[] {
  const relations = new Map<string, RelationSpec[]>(entities.map(({ name }) => [name, []]));
  const add = (entity: EntitySpec, relation: RelationSpec): void => {
    relations.get(entity.name)?.push(relation);
  };
  const made: EntitySpec[] = [];
  for (let index = random.between(1, 4); index > 0; index--) {
    const [one, other] = [random.pick(entities), random.pick(entities)];
    if (random.chance(0.6)) addToOne(random, { one, other, index }, add);
    else addMany(random, { one, other, index, naming }, { add, made });
  }
  return [...entities, ...made].map((entity) => ({
    ...entity,
    relations: [...entity.relations, ...(relations.get(entity.name) ?? [])],
  }));
}

interface Ends {
  readonly one: EntitySpec;
  readonly other: EntitySpec;
  readonly index: number;
}

type Add = (entity: EntitySpec, relation: RelationSpec) => void;

function addToOne(random: Random, { one, other, index }: Ends, add: Add): void {
  const isSelf = one.name === other.name;
  const unique = !isSelf && random.chance(0.25);
  // Required relations refer to earlier entities only, because TypeORM rejects cycles of them.
  const nullable = isSelf || one.name < other.name || random.chance(0.3);
  const onDelete = random.pick(
    nullable ? (['NO ACTION', 'CASCADE', 'SET NULL'] as const) : (['NO ACTION', 'CASCADE'] as const),
  );
  const forward: ToOneSpec = {
    kind: 'to-one',
    name: `r${index}`,
    target: other.name,
    nullable,
    unique,
    onDelete: isSelf ? 'SET NULL' : onDelete,
  };
  add(one, forward);
  if (random.chance(0.25)) return;
  const reverse: ReverseSpec = {
    kind: unique ? 'reverse-one' : 'to-many',
    name: `b${index}`,
    target: one.name,
    forward: forward.name,
  };
  add(other, reverse);
}

function addMany(
  random: Random,
  { one, other, index, naming }: Ends & { readonly naming: Naming },
  { add, made }: { readonly add: Add; readonly made: EntitySpec[] },
): void {
  const isSingle = [one, other].every(({ key }) => key.columns.length === 1);
  if (!isSingle) return;
  const name = `m${index}`;
  const inverse = random.chance(0.7) ? `n${index}` : undefined;
  const isMapped = one.name !== other.name && random.chance(0.5);
  const through = isMapped ? mappedThrough(random, { one, other, index, naming }) : undefined;
  if (through) made.push(through.entity);
  const side = (own: string, target: EntitySpec, back: string | undefined): ManySpec => ({
    kind: 'many-to-many',
    name: own,
    target: target.name,
    owner: one.name,
    ownerRelation: name,
    ...(back === undefined ? {} : { inverse: back }),
    ...(through ? { through: { entity: through.entity.name, near: 'near', far: 'far' } } : {}),
  });
  add(one, side(name, other, inverse));
  if (inverse !== undefined) add(other, side(inverse, one, name));
}

function mappedThrough(
  random: Random,
  { one, other, index, naming }: Ends & { readonly naming: Naming },
): { readonly entity: EntitySpec } {
  const side = (name: string, target: EntitySpec): ToOneSpec => ({
    kind: 'to-one',
    name,
    target: target.name,
    nullable: false,
    unique: false,
    onDelete: random.pick(['CASCADE', 'CASCADE', 'NO ACTION'] as const),
  });
  const word = `link${index}`;
  return {
    entity: {
      name: className(naming.number, word),
      app: naming.app,
      model: word,
      registered: random.chance(0.5),
      key: { generated: true, columns: [{ name: 'id', kind: 'int' }] },
      columns: random.chance(0.7) ? [makeColumn(random, 'grade')] : [],
      relations: [side('near', one), side('far', other)],
      uniques: random.chance(0.6) ? [['near', 'far']] : [],
      options: {},
      through: {},
    },
  };
}
