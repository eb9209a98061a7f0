/** What a request is made to find out, and so which answers are right. */
export type Intent =
  /** Everything is as the document says. */
  | { readonly kind: 'fits' }
  /** The body breaks its schema: at `field`, or as a whole. */
  | { readonly kind: 'broken-body'; readonly field: string | undefined }
  | { readonly kind: 'broken-query'; readonly parameter: string }
  /** The key in the URL is none by its schema, or leads nowhere. */
  | { readonly kind: 'no-such-object' }
  /** The document wants credentials, and there are none. */
  | { readonly kind: 'no-credentials' }
  /** The document has no such method at this path. */
  | { readonly kind: 'other-method' }
  | { readonly kind: 'not-json' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'not-acceptable' }
  /** The request of an earlier step once more, with its Idempotency-Key. */
  | { readonly kind: 'repeated'; readonly step: number }
  /** The Idempotency-Key of an earlier step, with another body. */
  | { readonly kind: 'key-reused'; readonly step: number }
  /** The object as it was answered last, by its ETag. */
  | { readonly kind: 'known-state' };

/**
 * A request before it is sent. Texts may hold `⟦12.path⟧`, `⟦12.key⟧` and `⟦12.etag⟧`: what step 12 was answered. So a sequence can be
 * sent once more, without some of its steps, to an application where keys are others.
 */
export interface Step {
  readonly number: number;
  /** `GET /rest/v1/polls/choice`, also where the document has no such operation. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** In the place of a body of JSON. */
  readonly raw?: string;
  readonly actor: string;
  readonly intent: Intent;
  /** The object that the path names. */
  readonly target?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: unknown;
}

/** A rule that an answer broke. `rule` and the operation tell one problem from another. */
export interface Problem {
  readonly rule: string;
  readonly detail: string;
}

const TOKEN = /⟦([\d.]+)\.(path|key|etag)⟧/g;

export type Known = (object: string, part: 'path' | 'key' | 'etag') => unknown;

export function token(object: string, part: 'path' | 'key' | 'etag'): string {
  return `⟦${object}.${part}⟧`;
}

/** A text with what its tokens stand for. */
export function resolveText(text: string, known: Known, write: (value: string) => string = String): string {
  return text.replace(TOKEN, (_, object: string, part: 'path' | 'key' | 'etag') =>
    write(String(known(object, part) ?? '0')),
  );
}

/** A body with what its tokens stand for: a text that is one token is the value itself. */
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

/** The objects on which a step rests. */
export function objectsOf(step: Step): ReadonlySet<string> {
  const text = JSON.stringify([step.path, step.query, step.headers, step.body ?? null]);
  const found = new Set([...text.matchAll(TOKEN)].map(([, object = '']) => object));
  if (step.target !== undefined) found.add(step.target);
  if (step.intent.kind === 'repeated' || step.intent.kind === 'key-reused')
    found.add(String(step.intent.step));
  return found;
}
