import { InvalidInput } from '../../errors/request-errors.js';
import type { Json } from '../../errors/rest-error.js';
import { allOf, NEVER } from '../../model/condition.js';
import type { Condition, Operand } from '../../model/condition.js';
import type { FilterBackend, FilterQuestion, Filtering } from '../../model/filter-backend.js';
import type { FilterTerm, Resource } from '../../model/resource.js';
import { decodedSegment } from '../../values/keys.js';
import { parseText } from '../../values/parse-text.js';
import { parseBoolean } from '../../values/parse-value.js';

/** Values that one `in` may list; more are refused. */
export const MAX_IN_VALUES = 100;

/**
 * `<field>=<value>` and `<field>__<lookup>=<value>`, AND-ed (contract 4). Only parameters that boot has compiled from
 * the model mean anything; all others are ignored. An empty value filters nothing.
 */
export class FieldFilter implements FilterBackend {
  filter({ resource, parameters }: FilterQuestion): Filtering {
    const errors = Object.create(null) as Record<string, string[]>;
    const conditions: Condition[] = [];
    for (const [name, text] of parameters) {
      const term = resource.filterTerms.get(name);
      if (!term || text === '') continue;
      const condition = parseTerm(text, term);
      if (Array.isArray(condition)) errors[name] = condition;
      else conditions.push(term.within ? allOf([condition, term.within]) : condition);
    }
    if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
    return { rows: allOf(conditions) };
  }

  parameters(resource: Resource): readonly string[] {
    return [...resource.filterTerms.keys()];
  }
}

/** The condition, or what is wrong with the text. */
function parseTerm(text: string, term: FilterTerm): Condition | string[] {
  const [first, ...others] = term.operands;
  if (!first) return [];
  if (others.length > 0) return parseCompositeKey(text, term);
  switch (term.lookup) {
    case 'isnull': {
      const outcome = parseBoolean(text.toLowerCase());
      return outcome.errors ? [...outcome.errors] : compare(first, term, outcome.value);
    }
    case 'in':
      return parseList(text, first, { term, limit: MAX_IN_VALUES });
    case 'range': {
      const range = parseList(text, first, { term, limit: 2 });
      return !Array.isArray(range) && range.kind === 'compare' && (range.value as readonly Json[]).length !== 2 ? ['Enter two values with a comma between them.'] : range;
    }
    default: {
      const outcome = parseText(text, first.column.type);
      const isOutOfRange = outcome.errors?.[0]?.startsWith('Ensure') === true;
      if (isOutOfRange && term.isKey === true && term.lookup === 'exact') return NEVER;
      return outcome.errors ? [...outcome.errors] : compare(first, term, outcome.value);
    }
  }
}

function compare(operand: Operand, { lookup }: FilterTerm, value: Json): Condition {
  return { kind: 'compare', operand, lookup, value };
}

function parseList(text: string, operand: Operand, { term, limit }: { term: FilterTerm; limit: number }): Condition | string[] {
  const parts = text.split(',');
  if (parts.length > limit) return [`Ensure there are no more than ${limit} values.`];
  const values: Json[] = [];
  for (const part of parts) {
    const outcome = parseText(part, operand.column.type);
    if (outcome.errors) return [...outcome.errors];
    values.push(outcome.value);
  }
  return compare(operand, term, values);
}

/** The text of a composite key, as it stands in a URL (contract 1). */
function parseCompositeKey(text: string, term: FilterTerm): Condition | string[] {
  if (term.lookup === 'isnull') {
    const outcome = parseBoolean(text.toLowerCase());
    const [first] = term.operands;
    return outcome.errors || !first ? ['Must be a valid boolean.'] : compare(first, term, outcome.value);
  }
  const parts = text.split(',');
  if (parts.length !== term.operands.length) return [`Enter ${term.operands.length} values with commas between them.`];
  const conditions: Condition[] = [];
  for (const [index, operand] of term.operands.entries()) {
    const outcome = parseText(decodedSegment(parts[index] ?? '') ?? '', operand.column.type);
    if (outcome.errors) return [...outcome.errors];
    conditions.push(compare(operand, term, outcome.value));
  }
  return allOf(conditions);
}
