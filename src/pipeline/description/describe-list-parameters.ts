import type {
  FilterDescription,
  OrderingDescription,
  PaginationParameters,
  QueryDescription,
  ShapeDescription,
} from '../../core/contracts/route-description.js';
import type { FieldSelection } from '../../core/contracts/field-selection.js';
import { columnKey, outwardType } from '../../core/schema/column.js';
import type { DataType } from '../../core/schema/data-type.js';
import { COUNTED_ROWS } from '../../core/schema/limits.js';
import type { FieldTerm, OrderTerm } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { findFilterParameters } from '../../features/filtering/filter-parameters.js';
import type { FilterParameter } from '../../features/filtering/filter-parameters.js';
import { choicesOf } from './describe-fields.js';

/** The part of a description that only lists have. */
export type ListParameters = Pick<
  QueryDescription,
  'filters' | 'groups' | 'ordering' | 'search' | 'pagination'
>;

/** The query parameters of a list. `resource` is restricted to what the caller may query. */
export function describeListParameters(resource: Resource): ListParameters {
  const parameters = findFilterParameters(resource);
  const nameOf = (kind: FilterParameter['kind']): string | undefined =>
    parameters.find((each) => each.kind === kind)?.name;
  const [groups, search, ordering] = [nameOf('groups'), nameOf('search'), nameOf('ordering')];
  const pagination = describePagination(resource);
  return {
    filters: parameters.flatMap(describeFilter),
    ...(groups === undefined ? {} : { groups }),
    ...(ordering === undefined ? {} : { ordering: describeOrdering(ordering, resource) }),
    ...(search === undefined ? {} : { search: { parameter: search } }),
    ...(pagination && { pagination }),
  };
}

function describeFilter(parameter: FilterParameter): readonly FilterDescription[] {
  const { name } = parameter;
  switch (parameter.kind) {
    case 'field': {
      const { field, term } = parameter;
      const type = typeOfTerm(term);
      return [
        {
          name,
          field,
          lookup: term.lookup,
          type: type.kind,
          list: term.lookup === 'in' || term.lookup === 'range',
          ...choicesOf(type),
        },
      ];
    }
    case 'typed':
      return [
        {
          name,
          field: name,
          lookup: 'custom',
          type: parameter.type.kind,
          list: parameter.list,
          ...choicesOf(parameter.type),
        },
      ];
    case 'other':
      return [{ name, field: name, lookup: 'custom', type: 'string', list: false }];
    case 'groups':
    case 'search':
    case 'ordering':
      return [];
    default:
      return parameter satisfies never;
  }
}

/** The type of a compared value. A composite key is a text. */
function typeOfTerm({ operands: [first, ...others], lookup }: FieldTerm): DataType {
  if (lookup === 'isnull') return { kind: 'boolean' };
  return first && others.length === 0 ? outwardType(first.column) : { kind: 'string', trim: false };
}

function describeOrdering(parameter: string, resource: Resource): OrderingDescription {
  const names = [...resource.orderingFields];
  const nameOf = ({ operand, descending }: OrderTerm): readonly string[] =>
    names
      .filter(([, { operands }]) => operands.length === 1 && operands[0] && isSame(operands[0], operand))
      .slice(0, 1)
      .map(([name]) => (descending ? `-${name}` : name));
  const [rank] = names.find(([, { operands }]) => operands[0]?.document) ?? [];
  return {
    parameter,
    ...(rank !== undefined && { rank }),
    fields: names.map(([name]) => name),
    default: resource.ordering.flatMap(nameOf),
    indexed: names.flatMap(([name, { operands }]) => (isIndexed(operands) ? [name] : [])),
  };
}

function isIndexed(operands: readonly OrderTerm['operand'][]): boolean {
  const [operand, ...others] = operands;
  return operand?.column.indexed === true && operand.joinPath.length === 0 && others.length === 0;
}

function isSame(one: OrderTerm['operand'], other: OrderTerm['operand']): boolean {
  return (
    columnKey(one.column) === columnKey(other.column) &&
    !one.present === !other.present &&
    one.joinPath.length === other.joinPath.length &&
    one.joinPath.every((hop, index) => hop.name === other.joinPath[index]?.name)
  );
}

function describePagination({ pagination }: Resource): PaginationParameters | undefined {
  if (!pagination) return undefined;
  const { standard, envelope, counts, countUpTo = COUNTED_ROWS } = pagination.describe?.() ?? {};
  const rows = envelope && { rows: envelope.rows };
  const count = standard?.count;
  const counted = {
    ...(counts !== undefined && { counts }),
    ...((counts ?? count) !== undefined && { count_up_to: countUpTo }),
  };
  const parameters = pagination.parameters();
  if (!standard) return { kind: 'custom', parameters, ...counted, ...rows };
  const { kind, position, size, pageSize, maxPageSize } = standard;
  return {
    kind,
    parameters,
    position,
    ...(size !== undefined && { size }),
    page_size: pageSize,
    max_page_size: maxPageSize,
    ...(count !== undefined && { count }),
    ...counted,
    ...rows,
  };
}

/** The names of the parameters that select fields and expand relations. */
export function describeShape(shape: FieldSelection): ShapeDescription {
  const { fieldsParameter, omitParameter, expandParameter, limitParameter } = shape;
  return {
    ...(fieldsParameter !== undefined && { fields: fieldsParameter }),
    ...(omitParameter !== undefined && { omit: omitParameter }),
    ...(expandParameter !== undefined && { expand: expandParameter }),
    ...(limitParameter !== undefined && { limit: limitParameter }),
  };
}
