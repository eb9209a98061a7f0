import { NotFound } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { RetrievePlan } from '../../core/query/plan.js';
import type { RestContext } from '../rest-context.js';
import { keyCondition } from './plan-read.js';

/** The row selected by the URL, among those that the caller may access. */
export function objectCondition({ route, resource, keys, scope }: RestContext): Condition {
  const key: readonly Json[] | undefined = route.parent ? keys.childKey : keys.key;
  if (!key) throw new NotFound();
  return conjunction([scope, keyCondition(key, resource)]);
}

export function planRetrieve(context: RestContext): RetrievePlan {
  return {
    kind: 'retrieve',
    resource: context.resource,
    where: objectCondition(context),
    requester: context.requester,
  };
}
