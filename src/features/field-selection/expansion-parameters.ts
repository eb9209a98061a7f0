import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors, NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import { parseIntegerParameter } from '../../request/parse/parse-integer.js';
import { parametersFrom, parameterValues, selectParameters } from '../../request/parse/parse-query-string.js';

/** The parameters of one expanded list, by the names that they have in the related model's own list. */
export interface ListParameters {
  readonly parameters: ReadonlyMap<string, string>;
  /** How many objects the list has at most; undefined if the request does not say. */
  readonly limit: number | undefined;
}

/** The parameters of expanded lists in a request, whose names begin with their path: `comments.votes__gte=3`. */
export class ExpansionParameters {
  private readonly taken = new Set<string>();

  /** @param limitParameter undefined if expanded lists take no parameters. */
  constructor(
    private readonly given: ReadonlyMap<string, string>,
    private readonly limitParameter: string | undefined,
    private readonly maxChildren: number,
  ) {}

  /** Takes those of the list at a path. Throws 400 for an invalid limit. */
  take(path: string): ListParameters {
    if (this.limitParameter === undefined) return NO_PARAMETERS;
    const own = this.names(path).flatMap((name) => {
      const short = name.slice(path.length + 1);
      if (short === '' || short.includes('.')) return [];
      this.taken.add(name);
      return short === this.limitParameter ? [] : [[short, parameterValues(name, this.given)] as const];
    });
    const asked = parseIntegerParameter(`${path}.${this.limitParameter}`, this.given, { min: 1 });
    return {
      parameters: own.length === 0 ? NO_PARAMETERS.parameters : parametersFrom(new Map(own)),
      limit: asked === undefined ? undefined : Math.min(asked, this.maxChildren),
    };
  }

  /** Takes those of a list that is not in the response, and of the lists below it. */
  drop(path: string): void {
    if (this.limitParameter !== undefined) for (const name of this.names(path)) this.taken.add(name);
  }

  /** The parameters that no expanded list has taken. */
  get rest(): ReadonlyMap<string, string> {
    return this.taken.size === 0 ? this.given : selectParameters(this.given, (name) => !this.taken.has(name));
  }

  /** The name of the limit of a list. */
  limitName(path: string): string {
    return `${path}.${this.limitParameter ?? ''}`;
  }

  private names(path: string): readonly string[] {
    return [...this.given.keys()].filter((name) => name.startsWith(`${path}.`));
  }
}

export const NO_PARAMETERS: ListParameters = { parameters: new Map(), limit: undefined };

/** The error of an expanded list, with the names that its parameters have in the request; any other error unchanged. */
export function namedWithin(path: string, error: unknown): unknown {
  if (!(error instanceof InvalidInput)) return error;
  const fields = emptyFieldErrors();
  for (const [name, messages] of Object.entries(error.fields))
    fields[name === NON_FIELD_ERRORS ? name : `${path}.${name}`] = messages;
  return new InvalidInput(fields);
}
