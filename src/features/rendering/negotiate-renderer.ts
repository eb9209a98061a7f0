import { NotAcceptable, NotFound } from '../../core/errors/http-exceptions.js';
import type { Renderer } from '../../core/contracts/renderer.js';
import { parseQueryString } from '../../request/parse/parse-query-string.js';
import { JSON_MEDIA_TYPE } from '../../core/media-type.js';

interface Range {
  readonly type: string;
  readonly quality: number;
}

interface Fit {
  readonly quality: number;
  /** 0 for any type, 1 for any subtype, 2 for the type itself. */
  readonly specific: number;
}

/**
 * Chooses the format of a response; undefined for JSON. A format by name (`?format=csv`) has precedence over `Accept`. Of
 * several acceptable ones, the order is: highest quality, most specific range, then JSON before the others (RFC 9110,
 * 12.5.1). Throws 404 for an unknown format, as DRF does, and 406 if none is acceptable.
 */
export function chooseRenderer(
  renderers: readonly Renderer[],
  { accept, format }: { readonly accept: string | undefined; readonly format: string | undefined },
): Renderer | undefined {
  if (format !== undefined && format !== '') {
    const named = renderers.find((each) => each.format === format);
    if (!named && format !== 'json') throw new NotFound();
    return named;
  }
  if (accept === undefined || accept.trim() === '') return undefined;
  const ranges = accept.split(',').map(rangeOf);
  let best: { readonly fit: Fit; readonly renderer: Renderer | undefined } | undefined;
  for (const renderer of [undefined, ...renderers]) {
    const fit = fitOf(renderer?.mediaType ?? JSON_MEDIA_TYPE, ranges);
    if (fit && fit.quality > 0 && (!best || isBetter(fit, best.fit))) best = { fit, renderer };
  }
  if (!best) throw new NotAcceptable();
  return best.renderer;
}

function isBetter(one: Fit, other: Fit): boolean {
  return one.quality > other.quality || (one.quality === other.quality && one.specific > other.specific);
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return { type, quality: Number.isFinite(value) ? value : 0 };
}

/** The quality of the most specific range that matches the type; of equal ranges, the highest. */
function fitOf(mediaType: string, ranges: readonly Range[]): Fit | undefined {
  const forms = ['*/*', `${mediaType.split('/')[0] ?? ''}/*`, mediaType];
  for (let specific = forms.length - 1; specific >= 0; specific--) {
    const qualities = ranges.filter(({ type }) => type === forms[specific]).map(({ quality }) => quality);
    if (qualities.length > 0) return { quality: Math.max(...qualities), specific };
  }
  return undefined;
}

/** The value of the format parameter. Errors of the query string are reported by a later stage. */
export function formatOf(query: string, name: string): string | undefined {
  if (!query.includes(name)) return undefined;
  try {
    return parseQueryString(query).get(name);
  } catch {
    return undefined;
  }
}
