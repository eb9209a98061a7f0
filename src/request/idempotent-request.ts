import type { Idempotency } from '../core/contracts/idempotency.js';
import type { ClaimRequest } from '../core/contracts/response-store.js';
import type { HttpExchange } from './http-exchange.js';
import type { HttpInput } from './request-input.js';
import { callerOf, digestOfRequest, digestOfScope } from './fingerprint.js';
import { parseIdempotencyKey } from './parse-idempotency-key.js';
import { readJsonValue } from './request-input.js';
import { listPath } from './resource-urls.js';
import type { IdempotentRequest, RestContext } from './rest-context.js';

/** A create request over HTTP, identified by its `Idempotency-Key`. One object for each request. */
export class HttpIdempotentRequest implements IdempotentRequest {
  /** The number of claims so far: a method of the application may create several rows. */
  private sequence = 0;

  constructor(
    private readonly context: RestContext,
    private readonly from: {
      readonly exchange: HttpExchange;
      readonly input: HttpInput;
      readonly rules: Idempotency;
    },
  ) {}

  key(): string | undefined {
    return parseIdempotencyKey(this.from.exchange.header('idempotency-key'), this.from.rules.require);
  }

  async claim(key: string): Promise<ClaimRequest> {
    const { exchange, input, rules } = this.from;
    const { actor } = this.context;
    const id = digestOfScope({
      list: `${this.context.base}/${listPath(this.context)}`,
      caller: callerOf({ actor, address: exchange.address }, rules),
      key,
      position: this.sequence++,
    });
    const body = readJsonValue(await input.receivedBody());
    return { id, fingerprint: digestOfRequest(id, { query: exchange.query, body }), life: rules.life };
  }
}
