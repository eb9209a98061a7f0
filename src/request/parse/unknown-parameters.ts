import { bulkParameters } from '../../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { Resource } from '../../core/schema/resource.js';

/** In a strict model, throws 400 for parameters that no backend reads. */
export function rejectUnknownParameters(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
  isList: boolean,
): void {
  rejectParametersExcept(parameters, resource.strict, () =>
    isList ? listParameters(resource) : [...bulkParameters(resource), ...commonParameters(resource)],
  );
}

/** The parameters that a list reads. */
export function listParameters(resource: Resource): readonly string[] {
  return [
    ...resource.backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]),
    ...(resource.pagination?.parameters() ?? []),
    ...commonParameters(resource),
  ];
}

function commonParameters(resource: Resource): readonly string[] {
  return [
    ...fieldSelectionParameters(resource.shape),
    ...(resource.renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
  ];
}

/** If `strict`, throws 400 for parameters other than these. */
export function rejectParametersExcept(
  parameters: ReadonlyMap<string, string>,
  strict: boolean,
  known: () => readonly string[],
): void {
  if (!strict) return;
  const names = new Set(known());
  const errors = emptyFieldErrors();
  for (const name of parameters.keys()) if (!names.has(name)) errors[name] = ['Unknown parameter.'];
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}
