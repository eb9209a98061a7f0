import type { OperationObject, Responses, Schema } from './open-api-types.js';

/** What @nestjs/swagger says of a method of the application's, from its own decorators or by default. */
export type ToldOperation = Readonly<Record<string, unknown>>;

export interface Merging {
  /** It stands in the place of an operation that is known. */
  readonly isOverride: boolean;
  /** The same method may stand below several prefixes. */
  readonly unique: (operationId: string) => string;
}

/**
 * The generated description, with what the application has said itself. What @nestjs/swagger says of a method about which
 * nobody said anything, an empty answer of 201 for a POST, is no word of the application's.
 */
export function mergeOperation(
  operation: OperationObject,
  told: ToldOperation,
  { isOverride, unique }: Merging,
): OperationObject & ToldOperation {
  const { operationId, parameters, requestBody, responses, summary, tags: _tags, security, ...others } = told;
  const said = saidResponses(responses);
  const explicitId = typeof operationId === 'string' && !operationId.includes(' ');
  return {
    ...operation,
    ...others,
    ...(explicitId ? { operationId: unique(operationId) } : {}),
    ...(typeof summary === 'string' && summary !== '' ? { summary } : {}),
    ...(Array.isArray(security) ? { security: security as OperationObject['security'] } : {}),
    parameters: mergeParameters(operation.parameters, parameters),
    ...(saysSomething(requestBody)
      ? { requestBody: requestBody as NonNullable<OperationObject['requestBody']> }
      : {}),
    responses: isOverride ? { ...operation.responses, ...said } : mergeResponses(operation.responses, said),
  };
}

function saidResponses(told: unknown): Responses {
  const entries = Object.entries((told ?? {}) as Responses);
  return Object.fromEntries(
    entries.filter(
      ([, response]) =>
        '$ref' in response ||
        response.description !== '' ||
        response.content !== undefined ||
        response.headers !== undefined,
    ),
  );
}

/** An answer that the application names itself stands in the place of the one of which nothing is known. */
function mergeResponses(generated: Responses, said: Responses): Responses {
  const isSuccess = (status: string): boolean => status.startsWith('2');
  const kept = Object.keys(said).some(isSuccess)
    ? Object.entries(generated).filter(([status]) => !isSuccess(status))
    : Object.entries(generated);
  return { ...Object.fromEntries(kept), ...said };
}

function mergeParameters(
  generated: OperationObject['parameters'],
  told: unknown,
): OperationObject['parameters'] {
  const own = Array.isArray(told) ? (told as OperationObject['parameters']) : [];
  const isOwn = (parameter: OperationObject['parameters'][number]): boolean =>
    own.some((each) => each.in === parameter.in && each.name === parameter.name);
  return [...generated.filter((each) => !isOwn(each)), ...own];
}

/** `@Body()` of no class says no more than that there is an object. */
function saysSomething(requestBody: unknown): boolean {
  const content =
    (requestBody as { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> } | undefined)
      ?.content ?? {};
  return Object.values(content).some(({ schema = {} }) =>
    Object.keys(schema).some((keyword) => keyword !== 'type'),
  );
}
