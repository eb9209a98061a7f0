import type { Condition, Operand } from '../core/query/condition.js';
import type { OrderTerm, ResourceSchema } from '../core/schema/resource-schema.js';
import { compareRow, compileEqual, leadingRow, cursorOf, isNullsFirst } from './compile-order.js';
import type { Bound } from './compile-order.js';
import { isForeignKey } from './compile-where.js';
import type { Scope } from './query-scope.js';

/** What a row fulfils to be in a segment. */
type Test =
  | { readonly kind: 'equal'; readonly bound: Bound }
  | { readonly kind: 'from' | 'after'; readonly row: readonly Bound[] }
  | { readonly kind: 'null' | 'not null'; readonly term: OrderTerm };

/** The rows of one range of an index on the order. */
export interface Segment {
  readonly tests: readonly Test[];
  /** The terms that sort them. */
  readonly order: readonly OrderTerm[];
}

/**
 * The rows of an order as segments: one after the other, they are the rows in this order. Those with a related row can be read in the order
 * of an index of the related table, those without cannot.
 */
export function segmentsOf(order: readonly OrderTerm[], scope: Scope): readonly Segment[] {
  const [term, ...others] = order;
  if (!term || term.operand.joinPath.length === 0) return [{ tests: [], order }];
  const without: Segment = { tests: [{ kind: 'null', term }], order: others };
  const related: Segment = { tests: [{ kind: 'not null', term }], order: withoutNull(order) };
  return isNullsFirst(term, scope) ? [without, related] : [related, without];
}

/** The same of the rows after a position: first those that have most values in common with it. */
export function segmentsAfter(
  bounds: readonly Bound[],
  inclusive: boolean,
  scope: Scope,
): readonly Segment[] {
  const [first] = bounds;
  if (!first) return inclusive ? [{ tests: [], order: [] }] : [];
  const row = leadingRow(bounds, scope);
  const order = withoutNull(bounds.map(({ term }) => term));
  if (row.length === bounds.length) return [{ tests: [{ kind: inclusive ? 'from' : 'after', row }], order }];
  const equal = row.length === 0 ? [first] : row;
  const tests = equal.map((bound) => ({ kind: 'equal', bound }) as const);
  const same = segmentsAfter(bounds.slice(equal.length), inclusive, scope).map((segment) => ({
    ...segment,
    tests: [...tests, ...segment.tests],
  }));
  const later = row.length === 0 ? testsAfter(first, scope) : [{ kind: 'after', row } as const];
  return [
    ...same,
    ...later.map((test) => ({ tests: [test], order: test.kind === 'null' ? order.slice(1) : order })),
  ];
}

/** The tests of the rows after a value that is, or precedes, NULL. */
function testsAfter(bound: Bound, scope: Scope): readonly Test[] {
  const { term, value } = bound;
  const isFirst = isNullsFirst(term, scope);
  if (value === null) return isFirst ? [{ kind: 'not null', term }] : [];
  return [{ kind: 'after', row: [bound] }, ...(isFirst ? [] : [{ kind: 'null', term } as const])];
}

/** The terms, of which the first is NULL in no row. */
function withoutNull([first, ...others]: readonly OrderTerm[]): readonly OrderTerm[] {
  return first ? [{ operand: first.operand, descending: first.descending }, ...others] : [];
}

/** The conditions of a segment. `isOnly`: whether no other one selects its rows, so that the index of the order is right whatever the statistics. */
export function compileSegment({ tests }: Segment, scope: Scope, isOnly: boolean): string {
  const compiled = tests.map((test, index) => {
    const sql = compileTest(test, scope);
    return isOnly && index === 0 && test.kind === 'equal' ? scope.dialect.selective(sql) : sql;
  });
  return compiled.join(' AND ');
}

function compileTest(test: Test, scope: Scope): string {
  switch (test.kind) {
    case 'equal':
      return compileEqual(test.bound, scope);
    case 'from':
    case 'after':
      return compareRow(test.row, test.kind, scope);
    case 'null':
      return `${cursorOf(test.term, scope).column} IS NULL`;
    case 'not null':
      return `${cursorOf(test.term, scope).column} IS NOT NULL`;
    default:
      return test satisfies never;
  }
}

/** The paths to related rows that each row of a segment has. */
export function requiredPaths({ tests }: Segment): readonly Operand['joinPath'][] {
  return tests.flatMap((test) => {
    switch (test.kind) {
      case 'equal':
        return test.bound.value === null ? [] : [test.bound.term.operand.joinPath];
      case 'from':
      case 'after':
        return test.row.map(({ term }) => term.operand.joinPath);
      case 'not null':
        return [test.term.operand.joinPath];
      case 'null':
        return [];
      default:
        return test satisfies never;
    }
  });
}

/**
 * How another index than that of the order may find the rows of a condition: by `one` value of a column, after which the rows are
 * still in the order of the key, or by `several`, after which they have to be sorted.
 */
export type OtherIndex = 'none' | 'one value' | 'several';

export function otherIndexOf(condition: Condition, resource: ResourceSchema): OtherIndex {
  switch (condition.kind) {
    case 'and':
      return mostOf(condition.conditions.map((each) => otherIndexOf(each, resource)));
    case 'or': {
      const all = condition.conditions.map((each) => otherIndexOf(each, resource));
      return all.every((each) => each === 'none') ? 'none' : 'several';
    }
    case 'compare': {
      const { joinPath, column } = condition.operand;
      if (joinPath.length > 0) return 'several';
      if (column.indexed !== true && !isForeignKey(column, resource)) return 'none';
      return condition.lookup === 'exact' ? 'one value' : 'several';
    }
    case 'term':
      return condition.operand.joinPath.length > 0 || condition.operand.document ? 'several' : 'none';
    case 'related':
      return 'several';
    case 'always':
    case 'never':
    case 'not':
      return 'none';
    default:
      return condition satisfies never;
  }
}

function mostOf(each: readonly OtherIndex[]): OtherIndex {
  if (each.includes('several')) return 'several';
  return each.includes('one value') ? 'one value' : 'none';
}
