import type { IndexUse } from '../../../core/contracts/missing-index.js';
import type { Operand } from '../../../core/query/condition.js';
import type { Lookup } from '../../../core/query/lookups.js';
import type { Column } from '../../../core/schema/column.js';
import type { Relation } from '../../../core/schema/relation.js';
import type { FieldTerm, OrderTerm, ResourceSchema } from '../../../core/schema/resource-schema.js';

/** A column with which an index has to begin, and what reads it. */
export interface IndexNeed {
  /** The model with the table. */
  readonly resource: ResourceSchema;
  /** Of a foreign key, all of its columns: an index may begin with any. Of an order, all of its terms. */
  readonly columns: readonly Column[];
  /** Of an order: the directions of the columns. */
  readonly descending?: readonly boolean[];
  readonly serves: 'filter' | 'order' | 'foreign-key';
  readonly use: IndexUse;
}

/** The lookups that an index on a column serves on each database. */
const INDEXED: ReadonlySet<Lookup> = new Set<Lookup>(['exact', 'in', 'gt', 'gte', 'lt', 'lte', 'range']);

/** What a model declares that an index would serve, for certain. */
export function indexNeeds(resource: ResourceSchema): readonly IndexNeed[] {
  const { declares, operations } = resource;
  const isListed = operations.has('list');
  return [
    ...(isListed && declares.filters ? filterNeeds(resource) : []),
    ...(isListed && declares.ordering ? orderingNeeds(resource) : []),
    ...(isListed ? orderNeed(resource, resource.ordering, 'default-order') : []),
    ...[...resource.relations.values()].flatMap((relation) => foreignKeyNeeds(resource, relation)),
  ];
}

function filterNeeds(resource: ResourceSchema): readonly IndexNeed[] {
  return [...resource.filterTerms.values()].flatMap((term) => {
    const operand = term.kind === 'field' ? filteredOperand(term) : undefined;
    if (!operand) return [];
    const { joinPath, column } = operand;
    return [
      {
        resource: joinPath.at(-1)?.target ?? resource,
        columns: [column],
        serves: 'filter' as const,
        use: { model: resource.id, kind: 'filter' as const, name: pathOf(operand) },
      },
    ];
  });
}

/** Few values of a column are as many rows as the table has, so that no index serves them. */
function filteredOperand({ some, operands, lookup }: FieldTerm): Operand | undefined {
  const [operand, ...more] = operands;
  if (!operand || more.length > 0 || some.length > 0 || !INDEXED.has(lookup)) return undefined;
  // An index on an expression is not looked for.
  if (operand.column.json) return undefined;
  switch (operand.column.type.kind) {
    case 'boolean':
    case 'enum':
      return undefined;
    default:
      return operand;
  }
}

function orderingNeeds(resource: ResourceSchema): readonly IndexNeed[] {
  return [...resource.orderingFields.values()].flatMap(({ operands, nulls }) => {
    const [operand, ...more] = operands;
    if (!operand || operand.document || more.length > 0) return [];
    return orderNeed(resource, [{ operand, descending: false, ...(nulls && { nulls }) }], 'ordering');
  });
}

/** None for an order over a relation, by a value in JSON, or with another position of nulls than that of an index. */
function orderNeed(
  resource: ResourceSchema,
  order: readonly OrderTerm[],
  kind: 'ordering' | 'default-order',
): readonly IndexNeed[] {
  const [first] = order;
  const isServed = ({ operand: { joinPath, column, present }, nulls }: OrderTerm): boolean =>
    joinPath.length === 0 && !column.json && present === undefined && nulls === undefined;
  if (!first || !order.every(isServed)) return [];
  const own = new Set(order.map(({ operand }) => operand.column.id));
  const key = resource.identity.filter(({ id }) => !own.has(id));
  const last = order.at(-1)?.descending === true;
  const name = order
    .map(({ operand, descending }) => `${descending ? '-' : ''}${pathOf(operand)}`)
    .join(', ');
  return [
    {
      resource,
      columns: [...order.map(({ operand }) => operand.column), ...key],
      descending: [...order.map(({ descending }) => descending), ...key.map(() => last)],
      serves: 'order',
      use: { model: resource.id, kind, name },
    },
  ];
}

function foreignKeyNeeds(resource: ResourceSchema, relation: Relation): readonly IndexNeed[] {
  switch (relation.kind) {
    case 'to-one':
      return [
        foreignKeyNeed(
          resource,
          relation.on.map(({ localColumn }) => localColumn),
        ),
      ];
    case 'one-to-many':
    case 'reverse-one':
      return [
        foreignKeyNeed(
          relation.target,
          relation.on.map(({ referencedColumn }) => referencedColumn),
        ),
      ];
    case 'many-to-many': {
      const { through } = relation;
      return [
        foreignKeyNeed(
          through.resource,
          through.parent.map(({ referencedColumn }) => referencedColumn),
        ),
        foreignKeyNeed(
          through.resource,
          through.other.map(({ localColumn }) => localColumn),
        ),
      ];
    }
    default:
      return relation satisfies never;
  }
}

function foreignKeyNeed(resource: ResourceSchema, columns: readonly Column[]): IndexNeed {
  const name = columns.map(({ id }) => id).join(', ');
  return {
    resource,
    columns,
    serves: 'foreign-key',
    use: { model: resource.id, kind: 'foreign-key', name },
  };
}

function pathOf({ joinPath, column }: Operand): string {
  return [...joinPath.map(({ name }) => name), column.path].join('.');
}
