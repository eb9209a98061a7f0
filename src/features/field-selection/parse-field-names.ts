/** Dotted names as a tree. */
export interface NameTree {
  /** True if selected itself, with everything below it. */
  readonly whole: boolean;
  readonly inner: ReadonlyMap<string, NameTree>;
}

interface MutableNameTree extends NameTree {
  whole: boolean;
  readonly inner: Map<string, MutableNameTree>;
}

/** The names in a parameter: `id,question.pub_date`. Undefined if it has none, which is the same as leaving it out. */
export function parseFieldNames(text: string | undefined): NameTree | undefined {
  if (text === undefined) return undefined;
  const root = createNode();
  for (const path of text.split(',')) {
    const names = path.split('.').map((name) => name.trim());
    if (names.length === 1 && names[0] === '') continue;
    let at = root;
    for (const name of names) {
      const next = at.inner.get(name) ?? createNode();
      at.inner.set(name, next);
      at = next;
    }
    at.whole = true;
  }
  return root.inner.size === 0 ? undefined : root;
}

function createNode(): MutableNameTree {
  return { whole: false, inner: new Map() };
}

/** The fields that a client selects: `only` these, if given, and none of `omit`. */
export interface Choice {
  readonly only: NameTree | undefined;
  readonly omit: NameTree | undefined;
}

export const ALL_FIELDS: Choice = { only: undefined, omit: undefined };

export function choosesAll({ only, omit }: Choice): boolean {
  return only === undefined && omit === undefined;
}

export function includes({ only, omit }: Choice, name: string): boolean {
  return (only === undefined || only.inner.has(name)) && omit?.inner.get(name)?.whole !== true;
}

/** The selection below a name. */
export function nestedChoice({ only, omit }: Choice, name: string): Choice {
  const named = only?.inner.get(name);
  return { only: named?.whole === true ? undefined : named, omit: omit?.inner.get(name) };
}
