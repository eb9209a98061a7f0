import type { Reference, Schema, OperationObject, Parameter, PathItem } from './open-api-types.js';

/** What is known of one parameter: the operations that have it, and its component once one refers to it. */
interface Use {
  readonly tag: string;
  /** Whether operations of several tags have it. */
  isCommon: boolean;
  count: number;
  reference?: Reference;
}

/** Parameters that several operations of a document have: each is a component, to which the operations refer. */
export class SharedParameters {
  readonly components = new Map<string, Parameter>();
  private readonly uses = new Map<string, Use>();
  /** The texts of parameters that several operations have as the same object. */
  private readonly texts = new Map<Parameter, string>();
  private readonly names: UniqueNames;

  /** @param taken the names of the parameters that the document has already. */
  constructor(taken: Iterable<string>) {
    this.names = new UniqueNames(taken);
  }

  /** Counts the parameters of a URL. Called for all URLs before the first `replace`. */
  count(item: PathItem): void {
    for (const { parameters, tags } of operationsOf(item))
      for (const parameter of parameters) this.countOne(parameter, tags[0] ?? '');
  }

  /** The operations of a URL with references in place of shared parameters. */
  replace(item: PathItem): PathItem {
    return Object.fromEntries(
      Object.entries(item).map(([method, operation]) => {
        const { parameters } = operation as OperationObject;
        return [
          method,
          { ...(operation as OperationObject), parameters: parameters.map((each) => this.referTo(each)) },
        ];
      }),
    );
  }

  private countOne(parameter: Parameter | Reference, tag: string): void {
    if ('$ref' in parameter) return;
    const use = this.uses.get(this.textOf(parameter));
    if (use) {
      use.count++;
      use.isCommon ||= use.tag !== tag;
    } else this.uses.set(this.textOf(parameter), { tag, isCommon: false, count: 1 });
  }

  private referTo(parameter: Parameter | Reference): Parameter | Reference {
    if ('$ref' in parameter) return parameter;
    const use = this.uses.get(this.textOf(parameter));
    if (!use || use.count === 1) return parameter;
    return (use.reference ??= this.add(parameter, use));
  }

  /** Named after the model whose URLs alone have it, so that other models do not change the name. */
  private add(parameter: Parameter, { tag, isCommon }: Use): Reference {
    const own = [parameter.in, parameter.name];
    const name = this.names.take([typeName(...(isCommon ? own : [tag, ...own]))]);
    this.components.set(name, parameter);
    return { $ref: `#/components/parameters/${name}` };
  }

  private textOf(parameter: Parameter): string {
    const known = this.texts.get(parameter);
    if (known !== undefined) return known;
    const text = JSON.stringify(parameter);
    this.texts.set(parameter, text);
    return text;
  }
}

function operationsOf(item: PathItem): readonly OperationObject[] {
  return Object.values(item) as readonly OperationObject[];
}

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
