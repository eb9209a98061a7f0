import type { DataAdapter } from '../core/data-adapter.js';
import { isOfMany } from '../core/contracts/bulk.js';
import { NotFound } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import { conjunction } from '../core/query/condition.js';
import { isReading, METHOD_OF, servedMethod } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import { decodedSegment, keyRepresentation } from '../core/values/keys.js';
import {
  assertPrecondition,
  readPrecondition,
} from '../features/conditional-requests/precondition.stages.js';
import { assertAcceptsJson } from '../features/rendering/negotiate-format.stage.js';
import { assertActionBody, assertOverrideBody } from '../request/application-body.js';
import { HttpInput, withBody } from '../request/request-input.js';
import type { JsonObject } from '../request/request-input.js';
import { parseUrlKeys } from '../request/parse/parse-keys.stage.js';
import { keyCondition } from '../request/plan/row-conditions.js';
import type { RestContext } from '../request/rest-context.js';
import { runStages } from '../request/rest-context.js';
import { deferObjectCheck } from './operations/update.js';
import { reauthorize, resultHeaders } from './rest-pipeline.js';
import type { RequestHandler } from './rest-pipeline.js';
import type { PipelineServices } from './pipeline-services.js';

/** The keys in the URL, as passed to an action. */
export interface ActionKeys {
  readonly parentPk: Json | undefined;
  readonly childPk: string | undefined;
}

/** Runs a generated operation from the method that replaces one. */
export type Operate = (operation: Operation, body?: JsonObject) => Promise<unknown>;

/** The keys that an action receives. */
export interface ActionArguments extends ActionKeys {
  /** The key of the object of an action with `detail`; undefined for other actions. */
  readonly pk: Json | undefined;
}

/** The arguments and operations available to a method that replaces an operation. */
export interface Override extends ActionKeys {
  /** The key of the object. */
  readonly pk: Json | undefined;
  readonly operate: Operate;
}

interface OverrideParts {
  readonly services: PipelineServices;
  readonly handlerOf: (operation: Operation) => RequestHandler;
  readonly onHeaders: (headers: Readonly<Record<string, string>>) => void;
}

/** Checks `Accept`, the keys and the body before an action. Throws 400, 404, 406, 413 and 415. */
export async function prepareAction(
  context: RestContext,
  { adapter }: PipelineServices,
): Promise<ActionArguments> {
  const { route, keySegment, childSegment } = context;
  assertAcceptsJson(context.header('accept'));
  const { key } = parseUrlKeys({ route, keySegment, childSegment: undefined });
  const childPk = childSegment === undefined ? undefined : decodedSegment(childSegment);
  if (childSegment !== undefined && childPk === undefined) throw new NotFound();
  if (key && route.actions.get(servedMethod(context.method))?.lookUp === true)
    await assertObjectExists(context, key, adapter);
  if (context.exchange && !isReading(context.method)) await assertActionBody(context.exchange);
  const parentPk = key ? keyRepresentation(key) : undefined;
  return { parentPk, childPk, pk: route.kind === 'object-action' ? parentPk : undefined };
}

/** Throws 404 unless the caller may see the object of an action, or the parent in a nested URL. */
async function assertObjectExists(
  { route, requester, access, grantCondition, isReading }: RestContext,
  key: readonly Json[],
  adapter: DataAdapter,
): Promise<void> {
  const resource = route.parent ?? route.resource;
  const scope = route.parent ? await access.readScope(route.parent) : grantCondition;
  const exists = await adapter.exists({
    resource,
    where: conjunction([scope, keyCondition(key, resource)]),
    forWriting: !isReading,
    requester,
  });
  if (!exists) throw new NotFound();
}

/** Runs the checks of the replaced operation. Throws 400, 404, 406, 412, 413, 415 and 428. */
export async function prepareOverride(context: RestContext, parts: OverrideParts): Promise<Override> {
  const { route, childSegment } = context;
  const { operation: replaced, isWrapped } = route.actions.get(servedMethod(context.method)) ?? {};
  if (!replaced)
    throw new Error(`No method replaces an operation at ${route.kind} of ${route.resource.className}.`);
  assertAcceptsJson(context.header('accept'));
  await runStages(parts.handlerOf(replaced).prepare, context);
  await assertPrecondition(parts.services.adapter)(context);
  if (isWrapped !== true) await assertBodyOf(replaced, context, parts.services);
  // The method may not call `super`, which would parse the key.
  if (replaced === 'create') context.idempotency?.key();
  const { key, childKey } = context.keys;
  const object = route.parent ? childKey : key;
  return {
    parentPk: key ? keyRepresentation(key) : undefined,
    childPk: childSegment === undefined ? undefined : decodedSegment(childSegment),
    pk: object ? keyRepresentation(object) : undefined,
    operate: operateFrom(context, replaced, parts),
  };
}

/** Throws the errors of a body; 404 if the object of the URL does not exist. Reading and deleting ignore a body (contract 5.2). */
async function assertBodyOf(
  operation: Operation,
  context: RestContext,
  services: PipelineServices,
): Promise<void> {
  const { exchange, input } = context;
  if (isReading(METHOD_OF[operation]) || operation === 'destroy') return;
  if (!exchange || !(input instanceof HttpInput)) return;
  await runStages(
    [
      ...(operation === 'create' ? [] : [deferObjectCheck(services)]),
      () => assertOverrideBody(exchange, input),
    ],
    context.fork(),
  );
}

function operateFrom(
  context: RestContext,
  replaced: Operation,
  { services, handlerOf, onHeaders }: OverrideParts,
): Operate {
  const { route } = context;
  let hasWritten = false;
  return async (operation, body) => {
    const here = operation === replaced ? context : await authorizeOther(context, operation, services);
    const run = here.fork(body ? { input: withBody(here.input, body) } : {});
    // The precondition applies to the first write only: that write has changed the row.
    if (hasWritten) run.precondition = undefined;
    else if (here !== context)
      await runStages(readPrecondition(route.resource, operation, services.adapter), run);
    await runStages(handlerOf(operation).operate, run);
    hasWritten ||= !isReading(METHOD_OF[operation]);
    onHeaders(resultHeaders(run));
    return run.result?.value;
  };
}

/** Authorizes a different operation: permission to read a row does not include changing it. */
async function authorizeOther(
  context: RestContext,
  operation: Operation,
  services: PipelineServices,
): Promise<RestContext> {
  const { route } = context;
  if (![...route.operations.values()].includes(operation) || isOfMany(route, operation))
    throw new Error(`${route.resource.className} has no operation "${operation}" at this URL.`);
  return reauthorize(context, METHOD_OF[operation], services);
}
