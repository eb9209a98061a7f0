import type { OperationObject, Parameter, Responses, Schema } from './open-api-types.js';

/** The description of an application's method by @nestjs/swagger, from decorators or by default. */
export type DeclaredOperation = Readonly<Record<string, unknown>>;

export interface Merging {
  /** The method replaces a generated operation. */
  readonly isOverride: boolean;
  /** The same method may be in several prefixes. */
  readonly unique: (operationId: string) => string;
}

/**
 * Merges the generated description with the one of the application. Defaults of @nestjs/swagger for an undecorated method,
 * such as an empty 201 for a POST, are ignored.
 */
export function mergeOperation(
  operation: OperationObject,
  declaredOperation: DeclaredOperation,
  { isOverride, unique }: Merging,
): OperationObject & DeclaredOperation {
  const {
    operationId,
    parameters,
    requestBody,
    responses,
    summary,
    tags: _tags,
    security,
    ...others
  } = declaredOperation;
  const declared = declaredResponses(responses);
  const explicitId = typeof operationId === 'string' && !operationId.includes(' ');
  return {
    ...operation,
    ...others,
    ...(explicitId ? { operationId: unique(operationId) } : {}),
    ...(typeof summary === 'string' && summary !== '' ? { summary } : {}),
    ...(Array.isArray(security) ? { security: security as OperationObject['security'] } : {}),
    parameters: mergeParameters(operation.parameters, parameters),
    ...(isNonEmpty(requestBody)
      ? { requestBody: requestBody as NonNullable<OperationObject['requestBody']> }
      : {}),
    responses: isOverride
      ? { ...operation.responses, ...declared }
      : mergeResponses(operation.responses, declared),
  };
}

function declaredResponses(responses: unknown): Responses {
  const entries = Object.entries((responses ?? {}) as Responses);
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

/** A response that the application declares replaces the generic one. */
function mergeResponses(generated: Responses, declared: Responses): Responses {
  const isSuccess = (status: string): boolean => status.startsWith('2');
  const kept = Object.keys(declared).some(isSuccess)
    ? Object.entries(generated).filter(([status]) => !isSuccess(status))
    : Object.entries(generated);
  return { ...Object.fromEntries(kept), ...declared };
}

function mergeParameters(
  generated: OperationObject['parameters'],
  declaredParameters: unknown,
): OperationObject['parameters'] {
  const own = Array.isArray(declaredParameters) ? (declaredParameters as OperationObject['parameters']) : [];
  const isOwn = (parameter: OperationObject['parameters'][number]): boolean =>
    !('$ref' in parameter) && own.some((each) => isSame(each, parameter));
  return [...generated.filter((each) => !isOwn(each)), ...own];
}

function isSame(one: OperationObject['parameters'][number], other: Parameter): boolean {
  return !('$ref' in one) && one.in === other.in && one.name === other.name;
}

/** `@Body()` without a class only declares an object. */
function isNonEmpty(requestBody: unknown): boolean {
  const content =
    (requestBody as { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> } | undefined)
      ?.content ?? {};
  return Object.values(content).some(({ schema = {} }) =>
    Object.keys(schema).some((keyword) => keyword !== 'type'),
  );
}
