import type { EntitySpec } from '../schema.js';
import { parseTerm } from './filters.js';
import type { FilterExpression, FilterName } from './filters.js';
import type { State } from './state.js';
import type { Limits } from './values.js';

class GroupError extends Error {}

/** Parses `filter=…` (docs/reference/filters.md, groups). */
class GroupReader {
  private at = 0;

  constructor(
    private readonly state: State,
    private readonly entity: EntitySpec,
    private readonly given: {
      readonly text: string;
      readonly names: ReadonlyMap<string, FilterName>;
      readonly limits: Limits;
    },
  ) {}

  read(): FilterExpression {
    const asked = this.expression();
    this.blanks();
    if (this.at < this.given.text.length) throw new GroupError('syntax');
    return asked;
  }

  private expression(): FilterExpression {
    this.blanks();
    const begin = this.at;
    const word = this.match(/(and|or|not)\(/y);
    if (word === undefined) return this.term(begin);
    const parts = [this.expression()];
    while (this.match(/ *,/y) !== undefined) parts.push(this.expression());
    if (this.match(/ *\)/y) === undefined) throw new GroupError('syntax');
    if (word.startsWith('not')) {
      const [part] = parts;
      if (!part || parts.length > 1) throw new GroupError('syntax');
      return { kind: 'not', part };
    }
    return { kind: word.startsWith('and') ? 'and' : 'or', parts };
  }

  private term(begin: number): FilterExpression {
    const name = this.match(/[^=!,()"]*/y) ?? '';
    const isNot = this.match(/!=/y) !== undefined;
    if (!isNot && this.match(/=/y) === undefined) throw new GroupError('syntax');
    const filter = this.given.names.get(isNot ? `${name.trim()}!` : name.trim());
    if (!filter)
      throw new GroupError(`Position ${begin + 1}: "${name.trim()}${isNot ? '!' : ''}" is no filter.`);
    const quoted = this.match(/"((?:[^"\\]|\\.)*)"/y);
    const text =
      quoted === undefined ? this.match(/[^,()]+/y) : quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
    if (text === undefined) throw new GroupError('syntax');
    const outcome = parseTerm({ state: this.state, entity: this.entity }, filter, {
      text,
      limits: this.given.limits,
    });
    if ('errors' in outcome)
      throw new GroupError(
        `Position ${begin + 1}: ${name.trim()}${isNot ? '!' : ''}: ${outcome.errors.join(' ')}`,
      );
    return { kind: 'term', term: outcome.value };
  }

  private blanks(): void {
    this.match(/ */y);
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.given.text);
    if (!found) return undefined;
    this.at += found[0].length;
    return found[0];
  }
}

/** The group, or its error message; undefined for a syntax error, whose message the model does not predict. */
export function parseGroup(
  state: State,
  entity: EntitySpec,
  given: {
    readonly text: string;
    readonly names: ReadonlyMap<string, FilterName>;
    readonly limits: Limits;
  },
): { readonly asked: FilterExpression } | { readonly message: string | undefined } {
  try {
    return { asked: new GroupReader(state, entity, given).read() };
  } catch (error) {
    if (!(error instanceof GroupError)) throw error;
    return { message: error.message === 'syntax' ? undefined : error.message };
  }
}
