import type { Reference, Schema } from './open-api-types.js';

/**
 * Components by name, each once. Names of the application are not overwritten. Names differ in more than case, because
 * generators of clients make files of them.
 */
export class Components {
  readonly schemas = new Map<string, Schema>();
  private readonly spellings = new Map<string, string>();

  constructor(taken: Iterable<string>) {
    for (const name of taken) this.spellings.set(name.toLowerCase(), '');
  }

  /** Adds a schema under the first name that is unused or has the same schema, and returns a reference. */
  add(names: readonly string[], schema: Schema): Reference {
    for (const name of candidates(names)) {
      const spelling = this.spellings.get(name.toLowerCase()) ?? name;
      const known = this.schemas.get(name);
      if (spelling !== name || (known && !isSame(known, schema))) continue;
      this.spellings.set(name.toLowerCase(), name);
      this.schemas.set(name, schema);
      return { $ref: `#/components/schemas/${name}` };
    }
    throw new Error('There are names without end');
  }
}

function isSame(one: Schema, other: Schema): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Texts that differ in more than case. */
export class UniqueNames {
  private readonly taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.taken = new Set([...taken].map((name) => name.toLowerCase()));
  }

  take(names: readonly string[]): string {
    for (const name of candidates(names)) {
      if (this.taken.has(name.toLowerCase())) continue;
      this.taken.add(name.toLowerCase());
      return name;
    }
    throw new Error('There are names without end');
  }
}

/** The names, then the last one with increasing numbers. */
function* candidates(names: readonly string[]): Generator<string> {
  yield* names;
  for (let number = 2; ; number++) yield `${names.at(-1) ?? ''}${number}`;
}

/** `polls`, `question` → `PollsQuestion`. */
export function typeName(...parts: readonly string[]): string {
  return parts
    .flatMap((part) => part.split(/[^A-Za-z0-9]+/))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Replaces characters that are not allowed in a URL. */
export function operationName(...parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .join('_')
    .replace(/[^\w.-]/g, '_');
}
