import type { Reference, Schema } from './open-api-types.js';

/** Components by name, each once. Names of the application are not overwritten. */
export class Components {
  readonly schemas = new Map<string, Schema>();

  constructor(private readonly taken: ReadonlySet<string>) {}

  /** Adds a schema under the first name that is unused or has the same schema, and returns a reference. */
  add(names: readonly string[], schema: Schema): Reference {
    const text = JSON.stringify(schema);
    for (const name of candidates(names)) {
      const known = this.schemas.get(name);
      if (this.taken.has(name) || (known && JSON.stringify(known) !== text)) continue;
      this.schemas.set(name, schema);
      return { $ref: `#/components/schemas/${name}` };
    }
    throw new Error('There are names without end');
  }
}

/** Unique texts. */
export class UniqueNames {
  constructor(private readonly taken: Set<string>) {}

  take(names: readonly string[]): string {
    for (const name of candidates(names)) {
      if (this.taken.has(name)) continue;
      this.taken.add(name);
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
