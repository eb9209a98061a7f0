import type { Caller } from '../core/schema/caller.js';
import type { Idempotency } from '../core/contracts/idempotency.js';
import { keyText } from '../core/values/keys.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { IdempotentRequest } from './rest-context.js';
import type { Call } from './resource-urls.js';
import { callerOf, digestOfRequest, digestOfScope } from './fingerprint.js';
import { parseIdempotencyKey } from './parse-idempotency-key.js';
import type { ClaimRequest } from '../core/contracts/response-store.js';
import { readJson } from './parse/parse-body.js';
import type { ReceivedBody } from './parse/parse-body.js';
import type { UrlKeys } from './parse/parse-url-keys.js';

/** A POST that may come twice, of a model where it is done once. One object a request. */
export class HttpIdempotentRequest implements IdempotentRequest {
  private received: MaybePromise<ReceivedBody> | undefined;
  private begun = 0;

  constructor(
    private readonly call: Call,
    private readonly from: { readonly caller: Caller; readonly keys: UrlKeys; readonly rules: Idempotency },
  ) {}

  /** As the exchange gives it, once: nobody can read a stream again. */
  body(): MaybePromise<ReceivedBody> {
    return (this.received ??= this.call.exchange.body());
  }

  key(): string | undefined {
    return parseIdempotencyKey(this.call.exchange.header('idempotency-key'), this.from.rules.require);
  }

  async claim(key: string): Promise<ClaimRequest> {
    const { caller, rules } = this.from;
    const id = digestOfScope({
      list: this.list(),
      caller: callerOf(caller, rules),
      key,
      position: this.begun++,
    });
    const body = readJson(await this.body());
    return {
      id,
      fingerprint: digestOfRequest(id, { query: this.call.exchange.query, body }),
      life: rules.life,
    };
  }

  /** In its canonical form: with a slash at its end or without it is one list. */
  private list(): string {
    const { base, match } = this.call;
    const { resource, parent, relation } = match.route;
    const { key } = this.from.keys;
    return parent && relation && key
      ? `${base}/${parent.app}/${parent.model}/${keyText(key)}/${relation.name}`
      : `${base}/${resource.app}/${resource.model}`;
  }
}
