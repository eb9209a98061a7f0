import { NotFound } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RouteMatch, UrlKeys } from '../../core/schema/route.js';
import { decodedSegment, parseKeySegment } from '../../core/values/keys.js';
import { unstorableText } from '../../core/values/texts.js';
import type { Stage } from '../rest-context.js';

/** Parses the keys in the URL. Throws 404 for a text that can be no key (contract 3.8). */
export const parseKeys: Stage = (context) => {
  context.keys = parseUrlKeys(context);
};

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
