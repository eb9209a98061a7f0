import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction, NEVER } from '../../core/query/condition.js';
import type { Condition, Operand } from '../../core/query/condition.js';
import type { Column } from '../../core/schema/column.js';
import type { FilterContext } from '../../core/contracts/filter-backend.js';
import type { FieldTerm, FilterTerm, CustomTerm } from '../../core/schema/resource-schema.js';
import type { DataType } from '../../core/schema/data-type.js';
import { comparesSeveral, LOOKUP_RULES } from '../../core/query/lookups.js';
import { decodedSegment } from '../../core/values/keys.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { comparedParts, parseCompared } from '../../core/values/parse-compared.js';
import { parseText } from '../../core/values/parse-text.js';
import { parseBoolean } from '../../core/values/parse-value.js';
import { resolveRowFilter, UnfitValue } from '../../core/query/resolve-row-filter.js';
import { splitValues } from '../../core/values/split-values.js';
import { eachWithinVisible, withinVisible } from './visible-condition.js';
import { notExists } from './join-conditions.js';
import type { PlacedCondition } from './join-conditions.js';

/** True if the parameter is a comma-separated list. */
export function holdsList(term: FilterTerm): boolean {
  return term.kind === 'custom' ? term.isList : comparesSeveral(term.lookup);
}

/** Parses the text of a parameter into a condition, or django-filter's error messages. */
export function parseTerm(text: string, term: FilterTerm, context: FilterContext): Outcome<PlacedCondition> {
  if (term.kind === 'custom') return parseCustom(text, term, context);
  const outcome = parseField(text, term, context.resource.queryLimits.values);
  if (outcome.errors) return outcome;
  if (term.isMany && term.lookup === 'isnull') return valid(notExists(term.some, !isTrue(outcome.value)));
  const { some, within } = term;
  return valid({ some, condition: within ? withinVisible(outcome.value, within) : outcome.value });
}

function isTrue(condition: Condition): boolean {
  return condition.kind === 'compare' && condition.value === true;
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
