import { InvalidInput, NotFound } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { bulkParameters } from '../../core/contracts/bulk.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { Resource } from '../../core/schema/resource.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { RouteMatch } from '../../core/schema/route.js';
import { decodedSegment, parseKeySegment } from '../../core/values/keys.js';
import { unstorableText } from '../../core/values/texts.js';

/** The keys in a URL, in the types of their columns. */
export interface UrlKeys {
  /** The key of the object; in a nested URL, of the parent. */
  readonly key: readonly Json[] | undefined;
  /** The key of the through object. */
  readonly childKey: readonly Json[] | undefined;
}

/** Throws 404 for a text that can be no key (contract 3.8). */
export function parseUrlKeys({ route, keySegment, childSegment }: RouteMatch): UrlKeys {
  const named = route.parent ?? route.resource;
  return {
    key: keySegment === undefined ? undefined : parseKey(keySegment, named),
    childKey: childSegment === undefined ? undefined : parseKey(childSegment, route.resource),
  };
}

function parseKey(segment: string, resource: Resource): readonly Json[] {
  const text = decodedSegment(segment);
  const key =
    text === undefined || unstorableText(text) !== undefined
      ? undefined
      : parseKeySegment(segment, resource.key);
  if (!key) throw new NotFound();
  return key;
}

/** In a strict model, throws 400 for parameters that no backend reads. */
export function rejectUnknownParameters(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
  isList: boolean,
): void {
  rejectParametersExcept(parameters, resource.strict, () => {
    const ofLists = isList
      ? [
          ...resource.backends.flatMap((backend) => [...(backend.parameters?.(resource) ?? [])]),
          ...(resource.pagination?.parameters() ?? []),
        ]
      : bulkParameters(resource);
    return [
      ...ofLists,
      ...fieldSelectionParameters(resource.shape),
      ...(resource.renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
    ];
  });
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
