/** The intent of a request, which determines the correct responses. */
export type Intent =
  /** The request is valid. */
  | { readonly kind: 'fits' }
  /** The body is invalid: at `field`, or as a whole. */
  | { readonly kind: 'broken-body'; readonly field: string | undefined }
  | { readonly kind: 'broken-query'; readonly parameter: string }
  /** The key in the URL is invalid or does not exist. */
  | { readonly kind: 'no-such-object' }
  /** Required credentials are missing. */
  | { readonly kind: 'no-credentials' }
  /** The path does not have the method. */
  | { readonly kind: 'other-method' }
  | { readonly kind: 'not-json' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'not-acceptable' }
  /** Repeats the request of an earlier step with its Idempotency-Key. */
  | { readonly kind: 'repeated'; readonly step: number }
  /** The Idempotency-Key of an earlier step, with another body. */
  | { readonly kind: 'key-reused'; readonly step: number }
  /** Refers to the last response with the object by its ETag. */
  | { readonly kind: 'known-state' };

/**
 * A request before it is sent. Texts may contain the tokens `⟦12.path⟧`, `⟦12.key⟧` and `⟦12.etag⟧`, which refer to the response of
 * step 12, so that a part of the sequence can be repeated with another application, in which keys differ.
 */
export interface Step {
  readonly number: number;
  /** `GET /rest/v1/polls/choice`, also for an undocumented operation. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Replaces the JSON body. */
  readonly raw?: string;
  readonly actor: string;
  readonly intent: Intent;
  /** The object of the path. */
  readonly target?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

/** A violated rule. Problems are identified by `rule` and operation. */
export interface Problem {
  readonly rule: string;
  readonly detail: string;
}

const TOKEN = /⟦([\d.]+)\.(path|key|etag)⟧/g;

export type Known = (object: string, part: 'path' | 'key' | 'etag') => unknown;

export function token(object: string, part: 'path' | 'key' | 'etag'): string {
  return `⟦${object}.${part}⟧`;
}

/** Replaces the tokens in a text. */
export function resolveText(text: string, known: Known, write: (value: string) => string = String): string {
  return text.replace(TOKEN, (_, object: string, part: 'path' | 'key' | 'etag') =>
    write(String(known(object, part) ?? '0')),
  );
}

/** Replaces the tokens in a body: a text that consists of one token becomes the value itself. */
export function resolveBody(body: unknown, known: Known): unknown {
  if (typeof body === 'string') {
    const [whole, object = '', part] = new RegExp(`^${TOKEN.source}$`).exec(body) ?? [];
    if (whole !== undefined) return known(object, part as 'key') ?? 0;
    return body.includes('⟦') ? resolveText(body, known) : body;
  }
  if (Array.isArray(body)) return body.map((each) => resolveBody(each, known));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([name, each]) => [name, resolveBody(each, known)]));
}

/** The objects on which a step depends. */
export function objectsOf(step: Step): ReadonlySet<string> {
  const text = JSON.stringify([step.path, step.query, step.headers, step.body ?? null]);
  const found = new Set([...text.matchAll(TOKEN)].map(([, object = '']) => object));
  if (step.target !== undefined) found.add(step.target);
  if (step.intent.kind === 'repeated' || step.intent.kind === 'key-reused')
    found.add(String(step.intent.step));
  return found;
}
