import { readQuoted } from '../../core/values/split-values.js';

/** A parsed filter group. Positions count from 1, in characters of the text. */
export type Expression =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }
  | { readonly kind: 'term'; readonly name: string; readonly text: string; readonly place: number };

export interface GroupLimits {
  readonly groupTerms: number;
  readonly groupDepth: number;
  readonly groupLength: number;
}

/** A syntax error of a group, with its position. */
export class GroupError extends Error {
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
