import {
  BodyTooLarge,
  InvalidInput,
  MalformedRequest,
  UnsupportedContentCoding,
  UnsupportedMediaType,
} from '../core/errors/http-exceptions.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { BODY_PARAMETERS, BODY_PARAMETER_LENGTH } from '../core/schema/limits.js';
import { QUERY_MEDIA_TYPE } from '../core/schema/operation.js';
import { emptyFieldErrors } from '../core/errors/rest-exception.js';
import type { Resource } from '../core/schema/resource.js';
import type { HttpExchange, ReceivedBody } from './http-exchange.js';
import { valueLists } from './parse/query-parameters.js';
import { parameterValues } from './parse/parse-query-string.js';
import { HttpInput, isJsonType } from './request-input.js';

/** A QUERY as the GET of the same list. */
export interface QueryRequest {
  readonly method: 'GET';
  readonly exchange: HttpExchange;
  readonly input: HttpInput;
  readonly isQuery: true;
}

/**
 * Reads the body of a QUERY (contract 27), which then is the query string of a GET: all that a list reads of its URL it reads of the
 * body. What is wrong with the body is thrown where the parameters are first used, at its place in the order of contract 6.3.
 */
export function readQuery(exchange: HttpExchange, resource: Resource): MaybePromise<QueryRequest> {
  return mapMaybe(exchange.body(), (body) => {
    const { text, error } = readText(body, exchange, resource);
    // The properties of the exchange are read through its prototype.
    const asGet = Object.create(exchange, {
      method: { value: 'GET' },
      query: { value: text },
    }) as HttpExchange;
    return { method: 'GET', exchange: asGet, input: new QueryInput(asGet, resource, error), isQuery: true };
  });
}

/** The parameters of a QUERY. */
class QueryInput extends HttpInput {
  constructor(
    exchange: HttpExchange,
    private readonly queried: Resource,
    private readonly error: Error | undefined,
  ) {
    super(exchange, queried);
  }

  protected override receivedParameters(): ReadonlyMap<string, string> {
    if (this.error) throw this.error;
    const parameters = super.receivedParameters();
    assertShort(parameters, this.queried);
    return parameters;
  }
}

/** The text of the body, and the error of one that is not read. */
function readText(
  body: ReceivedBody,
  exchange: HttpExchange,
  { queryLimits }: Resource,
): { readonly text: string; readonly error?: Error } {
  const refuse = (error: Error): { readonly text: string; readonly error: Error } => ({ text: '', error });
  const type = exchange.header('content-type');
  if (body.kind === 'too-large') return refuse(new BodyTooLarge());
  if (type === undefined || type.trim() === '')
    return refuse(new MalformedRequest(`A QUERY needs a Content-Type: ${QUERY_MEDIA_TYPE}.`));
  if (!isJsonType(type, QUERY_MEDIA_TYPE)) return refuse(new UnsupportedMediaType(type.slice(0, 200)));
  if (body.kind === 'coded')
    return refuse(new UnsupportedContentCoding(body.coding.slice(0, 200), body.decoded));
  if (exchange.query !== '')
    return refuse(
      new MalformedRequest('The parameters of a QUERY are in its body: its URL may not have any.'),
    );
  switch (body.kind) {
    case 'none':
      return { text: '' };
    case 'text':
      return Buffer.byteLength(body.text) > queryLimits.bodyBytes
        ? refuse(new BodyTooLarge())
        : { text: body.text };
    case 'broken':
      return refuse(new MalformedRequest(`The body could not be read: ${body.reason}.`));
    // Another parser has read it, and has not kept its text.
    case 'value':
    case 'unsupported':
      return refuse(new UnsupportedMediaType(type.slice(0, 200)));
    default:
      return body satisfies never;
  }
}

/** A body has as many names, and texts as long, as a URL may: only lists of values are longer. Throws 400. */
function assertShort(parameters: ReadonlyMap<string, string>, resource: Resource): void {
  if (parameters.size > BODY_PARAMETERS)
    throw new MalformedRequest(`A body has no more than ${BODY_PARAMETERS} parameters.`);
  const long = [...parameters.keys()].filter(
    (name) =>
      parameterValues(name, parameters).reduce((sum, { length }) => sum + length, 0) > BODY_PARAMETER_LENGTH,
  );
  if (long.length === 0) return;
  const isList = valueLists(resource);
  const errors = emptyFieldErrors();
  for (const name of long)
    if (!isList(name))
      errors[name] = [`Ensure this value has no more than ${BODY_PARAMETER_LENGTH} characters.`];
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}
