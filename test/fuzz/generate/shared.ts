import type { ColumnSpec, EntitySpec, OptionsSpec, RelationSpec, ToOneSpec } from '../schema.js';
import type { Random } from './random.js';

export interface SharedNaming {
  readonly app: string;
  /** The class name of a word. */
  readonly className: (word: string) => string;
  readonly makeColumn: (name: string) => ColumnSpec;
}

/** So few tenants and numbers that random keys often agree. */
const TENANTS = 2;
const NUMBERS = 4;

type Made = Pick<EntitySpec, 'key' | 'columns' | 'relations'> & Partial<EntitySpec>;

function entity({ app, className }: SharedNaming, word: string, made: Made): EntitySpec {
  return {
    name: className(word),
    app,
    model: word,
    registered: true,
    uniques: [],
    options: {},
    through: {},
    ...made,
  };
}

const SERIAL: EntitySpec['key'] = { generated: true, columns: [{ name: 'id', kind: 'int' }] };

function pairKey(tenant: string, number: string): EntitySpec['key'] {
  return {
    generated: false,
    columns: [
      { name: tenant, kind: 'int', below: TENANTS },
      { name: number, kind: 'int', below: NUMBERS },
    ],
  };
}

/** Orders with a tenant, and with relations that all have its column (contract 5.17). */
export function tenantEntities(random: Random, naming: SharedNaming): EntitySpec[] {
  const order = makeOrder(random, naming);
  const sides: Readonly<Record<string, EntitySpec['key']>> = {
    cust: pairKey('tenant', 'id'),
    prod: pairKey('owner', 'no'),
    firm: { generated: false, columns: [{ name: 'id', kind: 'int', below: TENANTS }] },
  };
  const back = (forward: string): readonly RelationSpec[] =>
    random.chance(0.6) ? [{ kind: 'to-many', name: 'orders', target: order.name, forward }] : [];
  return [
    ...order.relations.map(({ name }) =>
      entity(naming, name, {
        key: sides[name] ?? SERIAL,
        columns: [naming.makeColumn('f1')],
        relations: back(name),
      }),
    ),
    order,
  ];
}

/** Hooks that give each row the same tenant. */
function makeHooks(random: Random): OptionsSpec {
  const tenant = random.below(TENANTS);
  switch (random.weighted({ none: 5, values: 3, before: 2 })) {
    case 'values':
      return { valuesOnCreate: { tenant } };
    case 'before':
      return { beforeWrite: { tenant } };
    default:
      return {};
  }
}

function makeOrder(random: Random, naming: SharedNaming): EntitySpec {
  const hooks = makeHooks(random);
  const hasHooks = Object.keys(hooks).length > 0;
  const free = naming.makeColumn('f1');
  // Hooks set the property.
  const tenant = hasHooks || random.chance(0.6) ? makeTenant(random, hooks) : undefined;
  const columns: ColumnSpec[] = [
    MARK,
    free,
    ...(tenant ? [tenant] : []),
    ...(random.chance(0.4) ? [{ ...PLAIN, name: 'custId', nullable: true }] : []),
    ...(random.chance(0.3) ? [{ name: 'version', kind: 'version' } as const] : []),
  ];
  const isOpen = random.chance(0.7);
  const relations = [
    makeJoined(naming, 'cust', { on: { tenant: 'tenant', custId: 'id' }, nullable: isOpen }),
    makeJoined(naming, 'prod', { on: { tenant: 'owner', prodId: 'no' }, nullable: random.chance(0.8) }),
  ];
  // Without a property, the column is that of the first relation.
  const mayBeNull = tenant ? random.chance(0.7) : isOpen;
  if (!hasHooks && random.chance(0.35))
    relations.push(makeJoined(naming, 'firm', { on: { tenant: 'id' }, nullable: mayBeNull }));
  const isPlain = ['int', 'varchar', 'boolean', 'enum'].includes(free.kind);
  return entity(naming, 'ord', {
    key: SERIAL,
    columns,
    relations,
    uniques: tenant && isPlain && random.chance(0.4) ? [['tenant', 'f1']] : [],
    options: hooks,
  });
}

/** For upserts. */
const MARK: ColumnSpec = { name: 'mark', kind: 'varchar', length: 20, unique: true };

/** A property of a column of foreign keys. */
const PLAIN = { kind: 'int', readOnly: true } as const;

function makeTenant(random: Random, { valuesOnCreate }: OptionsSpec): ColumnSpec {
  return { ...PLAIN, name: 'tenant', nullable: !valuesOnCreate || random.chance(0.5) };
}

function makeJoined(
  { className }: SharedNaming,
  word: string,
  { on, nullable }: { readonly on: Readonly<Record<string, string>>; readonly nullable: boolean },
): ToOneSpec {
  return {
    kind: 'to-one',
    name: word,
    target: className(word),
    nullable,
    unique: false,
    onDelete: 'NO ACTION',
    on: Object.entries(on).map(([near, far]) => ({ near, far })),
  };
}

/** Notes about rows of two tables, by one column without constraints (contract 5.13). */
export function polymorphicEntities(random: Random, naming: SharedNaming): EntitySpec[] {
  const targets = ['post', 'photo'];
  const note = entity(naming, 'note', {
    key: SERIAL,
    columns: [
      { name: 'subjectId', kind: 'int', nullable: random.chance(0.6) },
      MARK,
      naming.makeColumn('f1'),
    ],
    relations: targets.map((word) => ({
      ...makeJoined(naming, word, { on: { subjectId: 'id' }, nullable: true }),
      unbound: true,
    })),
  });
  const back = (forward: string): readonly RelationSpec[] =>
    random.chance(0.6) ? [{ kind: 'to-many', name: 'notes', target: note.name, forward }] : [];
  return [
    ...targets.map((word) =>
      entity(naming, word, { key: SERIAL, columns: [naming.makeColumn('f1')], relations: back(word) }),
    ),
    note,
  ];
}
