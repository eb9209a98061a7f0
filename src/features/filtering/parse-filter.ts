import type { FilterContext } from '../../core/contracts/filters.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import {
  conjunction,
  disjunction,
  mapComparisons,
  negation,
  NEVER,
  ALWAYS,
} from '../../core/query/condition.js';
import type { Condition, Operand } from '../../core/query/condition.js';
import { comparesSeveral, LOOKUP_RULES } from '../../core/query/lookups.js';
import { resolveRowFilter, UnfitValue } from '../../core/query/resolve-row-filter.js';
import type { Column } from '../../core/schema/column.js';
import type { DataType } from '../../core/schema/data-type.js';
import type { Relation } from '../../core/schema/relation.js';
import type { FieldTerm, FilterTerm, CustomTerm, ExistsStep } from '../../core/schema/resource-schema.js';
import { decodedSegment } from '../../core/values/keys.js';
import { comparedParts, parseCompared, parseText, splitValues } from '../../core/values/parse-text.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { parseBoolean } from '../../core/values/parse-value.js';

/** A condition on a row of a model, or on rows reached over these to-many relations. */
export interface PlacedCondition {
  readonly some: readonly ExistsStep[];
  readonly condition: Condition;
}

/**
 * Joins all conditions by AND. Those on one to-many relation refer to the same related row, as in Django's `filter()`:
 * one choice that has the votes and the text, not two that have one each.
 */
export function groupByRelation(placed: readonly PlacedCondition[], depth = 0): Condition {
  const conditions: Condition[] = [];
  const groups = new Map<string, { readonly step: ExistsStep; readonly placed: PlacedCondition[] }>();
  for (const each of placed) {
    const step = each.some[depth];
    if (!step) {
      conditions.push(each.condition);
      continue;
    }
    const name = JSON.stringify([...step.joinPath, step.relation].map((relation) => relation.name));
    const group = groups.get(name) ?? { step, placed: [] };
    groups.set(name, group);
    group.placed.push(each);
  }
  return conjunction([
    ...conditions,
    ...[...groups.values()].map(({ step, placed }) =>
      existsCondition(step, groupByRelation(placed, depth + 1)),
    ),
  ]);
}

/**
 * Joins the conditions of parameters, by the name of each, as `groupByRelation` does. Throws `InvalidInput` with the errors
 * of all invalid values.
 */
export function joinOutcomes(
  outcomes: readonly (readonly [
    name: string,
    outcome: Outcome<PlacedCondition | readonly PlacedCondition[]>,
  ])[],
): Condition {
  const errors = emptyFieldErrors();
  const placed: PlacedCondition[] = [];
  for (const [name, outcome] of outcomes) {
    if (outcome.errors) errors[name] = [...outcome.errors];
    else if ('condition' in outcome.value) placed.push(outcome.value);
    else placed.push(...outcome.value);
  }
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  return groupByRelation(placed);
}

/** At least one related row that the caller may see matches. */
function existsCondition(
  { joinPath, relation, pathGrants, grantCondition = ALWAYS, through }: ExistsStep,
  condition: Condition,
): Condition {
  const inner = conjunction([grantCondition, condition]);
  if (inner.kind === 'never') return inner;
  const related: Condition = {
    kind: 'related',
    joinPath,
    relation,
    condition: inner,
    ...(through ? { through } : {}),
  };
  return pathGrants ? conjunction([pathGrants, related]) : related;
}

/** True if the last relation leads to no row that the caller may see, or (`some`) to at least one. */
function notExists(steps: readonly ExistsStep[], some: boolean): PlacedCondition {
  const last = steps.at(-1);
  if (!last) return { some: [], condition: ALWAYS };
  const related = existsCondition(last, ALWAYS);
  return { some: steps.slice(0, -1), condition: some ? related : { kind: 'not', condition: related } };
}

/** True if the parameter is a comma-separated list. */
export function holdsList(term: FilterTerm): boolean {
  return term.kind === 'custom' ? term.isList : comparesSeveral(term.lookup);
}

/** Parses the text of a parameter into a condition, or django-filter's error messages. */
export function parseTerm(text: string, term: FilterTerm, context: FilterContext): Outcome<PlacedCondition> {
  if (term.kind === 'custom') return parseCustom(text, term, context);
  const outcome = parseField(text, term, context.maxValues ?? context.resource.queryLimits.values);
  if (outcome.errors) return outcome;
  if (term.isMany && term.lookup === 'isnull') {
    const isNull = outcome.value.kind === 'compare' && outcome.value.value === true;
    return valid(notExists(term.some, !isNull));
  }
  const { some, within } = term;
  return valid({ some, condition: within ? withinVisible(outcome.value, within) : outcome.value });
}

function parseField(text: string, term: FieldTerm, limit: number): Outcome<Condition> {
  const [first, ...others] = term.operands;
  if (!first) return valid(NEVER);
  const { value } = LOOKUP_RULES[term.lookup];
  switch (value) {
    case 'boolean':
      return compareWith(parseBoolean(text.toLowerCase()), first, term);
    case 'several':
      return compareWith(parseComparedValues(text, first.column, limit), first, term);
    case 'range': {
      const range = parseComparedValues(text, first.column, 2);
      return !range.errors && range.value.length !== 2
        ? invalid('Enter two values with a comma between them.')
        : compareWith(range, first, term);
    }
    case 'text':
      return compareWith(parseText(text, first.column.type), first, term);
    case 'one':
      return others.length > 0 ? parseCompositeKey(text, term) : parseSingleValue(text, first, term);
    default:
      return value satisfies never;
  }
}

function parseSingleValue(text: string, operand: Operand, term: FieldTerm): Outcome<Condition> {
  const outcome = parseCompared(text, operand.column);
  // No row has a key that is out of range.
  const isOutOfRange = outcome.errors?.[0]?.startsWith('Ensure') === true;
  return isOutOfRange && term.isKey && term.lookup === 'exact'
    ? valid(NEVER)
    : compareWith(outcome, operand, term);
}

/** A relation is compared as its foreign key is (contract 4.16). */
function compareWith(
  outcome: Outcome<Json>,
  operand: Operand,
  { lookup, isKey }: FieldTerm,
): Outcome<Condition> {
  if (outcome.errors) return outcome;
  const { value } = outcome;
  return valid({ kind: 'compare', operand, lookup, value, ...(isKey ? { asKey: true } : {}) });
}

/** Comma-separated values, each compared with a column. */
function parseComparedValues(text: string, column: Column, limit: number): Outcome<readonly Json[]> {
  const parts = comparedParts(text, column);
  return parts.errors ? parts : parseEach(parts.value, limit, (part) => parseCompared(part, column));
}

/** Comma-separated values, each parsed by the rules of one. */
export function parseValues(text: string, type: DataType, limit: number): Outcome<readonly Json[]> {
  const parts = splitValues(text);
  return parts.errors ? parts : parseEach(parts.value, limit, (part) => parseText(part, type));
}

function parseEach(
  parts: readonly string[],
  limit: number,
  parse: (part: string) => Outcome<Json>,
): Outcome<readonly Json[]> {
  if (parts.length > limit) return invalid(`Ensure there are no more than ${limit} values.`);
  const values: Json[] = [];
  for (const part of parts) {
    const outcome = parse(part);
    if (outcome.errors) return outcome;
    values.push(outcome.value);
  }
  return valid(values);
}

/** Parses a composite key in its URL format (contract 1.4). */
function parseCompositeKey(text: string, term: FieldTerm): Outcome<Condition> {
  const parts = text.split(',');
  if (parts.length !== term.operands.length)
    return invalid(`Enter ${term.operands.length} values with commas between them.`);
  const conditions: Condition[] = [];
  for (const [index, operand] of term.operands.entries()) {
    const outcome = compareWith(
      parseText(decodedSegment(parts[index] ?? '') ?? '', operand.column.type),
      operand,
      term,
    );
    if (outcome.errors) return outcome;
    conditions.push(outcome.value);
  }
  return valid(conjunction(conditions));
}

/**
 * Calls the model's filter function with the typed value; a condition with a value that does not fit its column is the
 * client's error.
 */
function parseCustom(
  text: string,
  { type, isList, rows, visible }: CustomTerm,
  context: FilterContext,
): Outcome<PlacedCondition> {
  const outcome: Outcome<Json> = isList
    ? parseValues(text, type, context.resource.queryLimits.values)
    : parseText(text, type);
  if (outcome.errors) return outcome;
  try {
    const condition = resolveRowFilter(rows(outcome.value, context), context.resource);
    return valid({ some: [], condition: visible ? eachWithinVisible(condition, visible) : condition });
  } catch (error) {
    if (error instanceof UnfitValue) return invalid(...error.messages);
    throw error;
  }
}

/**
 * A comparison over to-one relations. Related rows that the caller may not see count as NULL, so that `ne` and `isnull`
 * keep the rows that refer to them (contract 10.3).
 */
function withinVisible(compared: Condition, visible: Condition): Condition {
  return keepsNull(compared) ? disjunction([compared, negation(visible)]) : conjunction([compared, visible]);
}

/** Applies `withinVisible` to each comparison in the condition of a custom filter. */
function eachWithinVisible(
  condition: Condition,
  visible: (joinPath: readonly Relation[]) => Condition,
): Condition {
  return mapComparisons(condition, (each) =>
    each.kind === 'related'
      ? // A filter over to-many relations exists only if the caller may see all related rows.
        conjunction([each, visible(each.joinPath)])
      : withinVisible(each, visible(each.operand.joinPath)),
  );
}

/** True if NULL matches. */
function keepsNull(condition: Condition): boolean {
  if (condition.kind !== 'compare') return false;
  const { lookup, value } = condition;
  if (value === null) return lookup === 'exact';
  return lookup === 'ne' || (lookup === 'isnull' && value === true);
}
