import type { FilterContext } from '../../core/contracts/filters.js';
import { disjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { FieldTerm, FilterTerm } from '../../core/schema/resource-schema.js';
import { invalid, valid } from '../../core/values/parse-result.js';
import type { Outcome } from '../../core/values/parse-result.js';
import { readQuoted } from '../../core/values/parse-text.js';
import { groupByRelation, parseTerm } from './parse-filter.js';
import type { PlacedCondition } from './parse-filter.js';

/** A parsed filter group. Positions count from 1, in characters of the text. */
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }
  | { readonly kind: 'term'; readonly name: string; readonly text: string; readonly place: number };

interface GroupLimits {
  readonly groupTerms: number;
  readonly groupDepth: number;
  readonly groupLength: number;
}

/** A syntax error of a group, with its position. */
class GroupError extends Error {
  constructor(what: string, place: number) {
    super(`Position ${place}: ${what}`);
  }
}

/**
 * Parses the grammar of `filter=`:
 *
 * ```
 * expression = ("and" | "or") "(" expression *("," expression) ")"
 *            | "not" "(" expression ")"
 *            | name ("=" | "!=") value
 * value      = DQUOTE text DQUOTE, in which \" is a quote and \\ a backslash
 *            | one or more characters except , ( ), not starting with a quote
 * ```
 *
 * Blanks before an expression are ignored. Parsed in one pass, so that the time is linear. Throws a `GroupError`.
 */
export function parseFilterGroup(text: string, limits: GroupLimits): Expression {
  if (text.length > limits.groupLength)
    throw new GroupError(
      `Ensure the text has no more than ${limits.groupLength} characters.`,
      limits.groupLength + 1,
    );
  const reader = new GroupReader(text, limits);
  const expression = reader.expression(1);
  reader.end();
  return expression;
}

const GROUP_KINDS = new Set(['and', 'or', 'not']);

class GroupReader {
  private at = 0;
  private terms = 0;

  constructor(
    private readonly text: string,
    private readonly limits: GroupLimits,
  ) {}

  expression(depth: number): Expression {
    while (this.text[this.at] === ' ') this.at++;
    const begin = this.at;
    const name = this.until(/[=!(),"]/g);
    if (this.text[this.at] !== '(') return this.term(name, begin);
    if (!GROUP_KINDS.has(name))
      throw new GroupError(`"${name}" is no group. Write and, or or not.`, begin + 1);
    if (depth > this.limits.groupDepth)
      throw new GroupError(
        `Ensure groups stand no more than ${this.limits.groupDepth} deep in one another.`,
        begin + 1,
      );
    this.at++;
    const [first, ...others] = this.parts(depth);
    if (!first) throw new GroupError('A group is empty.', begin + 1);
    if (name !== 'not') return { kind: name === 'and' ? 'and' : 'or', parts: [first, ...others] };
    if (others.length > 0)
      throw new GroupError('not takes one part. Write not(or(…)) or not(and(…)).', begin + 1);
    return { kind: 'not', part: first };
  }

  end(): void {
    if (this.at < this.text.length)
      throw new GroupError('The group ends here, and the text goes on.', this.at + 1);
  }

  private parts(depth: number): readonly Expression[] {
    const parts: Expression[] = [];
    for (;;) {
      parts.push(this.expression(depth + 1));
      const next = this.text[this.at];
      if (next !== ',' && next !== ')') throw new GroupError('Write "," or ")" here.', this.at + 1);
      this.at++;
      if (next === ')') return parts;
    }
  }

  private term(name: string, begin: number): Expression {
    const sign = this.text.startsWith('!=', this.at) ? '!=' : '=';
    if (name === '' || !this.text.startsWith(sign, this.at))
      throw new GroupError('Write a filter with its value here, or a group.', begin + 1);
    this.terms++;
    if (this.terms > this.limits.groupTerms)
      throw new GroupError(`Ensure there are no more than ${this.limits.groupTerms} filters.`, begin + 1);
    this.at += sign.length;
    return { kind: 'term', name: sign === '=' ? name : `${name}!`, text: this.value(), place: begin + 1 };
  }

  private value(): string {
    const begin = this.at;
    if (this.text[begin] !== '"') {
      const value = this.until(/[(),]/g);
      if (value === '') throw new GroupError('Write a value here; "" is the empty text.', begin + 1);
      return value;
    }
    const quoted = readQuoted(this.text, begin);
    if (!quoted) throw new GroupError('A quote is not closed.', begin + 1);
    this.at = quoted.end;
    return quoted.value;
  }

  private until(stop: RegExp): string {
    const begin = this.at;
    stop.lastIndex = begin;
    this.at = stop.exec(this.text)?.index ?? this.text.length;
    return this.text.slice(begin, this.at);
  }
}

type Term = Extract<Expression, { kind: 'term' }>;

/**
 * Filters of the model combined by `and`, `or` and `not`. An unknown name must not be ignored here, because that could
 * show more rows: it is an error, the same for a hidden and a missing field.
 */
export function parseGroups(text: string, context: FilterContext): Outcome<readonly PlacedCondition[]> {
  try {
    const expression = parseFilterGroup(text, context.resource.queryLimits);
    assertFewSteps(expression, context);
    return valid(placedOf(expression, context));
  } catch (error) {
    if (error instanceof GroupError) return invalid(error.message);
    throw error;
  }
}

/** Limits steps over to-many relations, which cost more than comparisons do. */
function assertFewSteps(expression: Expression, { resource }: FilterContext): void {
  const limit = resource.queryLimits.groupRelated;
  let steps = 0;
  for (const { name, place } of termsOf(expression)) {
    for (const { some } of termPaths(resource.filterTerms.get(name))) steps += some.length;
    if (steps > limit) throw new GroupError(`Ensure there are no more than ${limit} steps over many.`, place);
  }
}

function termPaths(term: FilterTerm | undefined): readonly Pick<FieldTerm, 'some'>[] {
  if (!term) return [];
  return term.kind === 'custom' ? term.reads : [term];
}

function termsOf(expression: Expression): readonly Term[] {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return expression.parts.flatMap(termsOf);
    case 'not':
      return termsOf(expression.part);
    case 'term':
      return [expression];
    default:
      return expression satisfies never;
  }
}

/**
 * AND-ed conditions on a to-many relation refer to the same related row; each part of an `or`, and a negated expression,
 * are independent.
 */
function placedOf(expression: Expression, context: FilterContext): readonly PlacedCondition[] {
  switch (expression.kind) {
    case 'and':
      return expression.parts.flatMap((part) => placedOf(part, context));
    case 'or':
      return [
        { some: [], condition: disjunction(expression.parts.map((part) => groupCondition(part, context))) },
      ];
    case 'not':
      return [{ some: [], condition: { kind: 'not', condition: groupCondition(expression.part, context) } }];
    case 'term':
      return [placedTerm(expression, context)];
    default:
      return expression satisfies never;
  }
}

function groupCondition(expression: Expression, context: FilterContext): Condition {
  return groupByRelation(placedOf(expression, context));
}

function placedTerm({ name, text, place }: Term, context: FilterContext): PlacedCondition {
  const term = context.resource.filterTerms.get(name);
  if (!term) throw new GroupError(`"${name}" is no filter.`, place);
  const outcome = parseTerm(text, term, context);
  if (outcome.errors) throw new GroupError(`${name}: ${outcome.errors.join(' ')}`, place);
  return outcome.value;
}
