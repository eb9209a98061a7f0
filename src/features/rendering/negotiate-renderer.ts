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
 * Which form an answer takes; undefined for JSON. A format by name (`?format=csv`) wins over `Accept`. Of several that the client
 * takes, the one with the highest quality, then the one that it names more exactly, then JSON and the others in their order
 * (RFC 9110, 12.5.1). Throws 404 for a format that there is not, as DRF does, and 406 where nothing is left.
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

/** By the most specific range that takes the type; of two alike the kinder one. */
function fitOf(mediaType: string, ranges: readonly Range[]): Fit | undefined {
  const forms = ['*/*', `${mediaType.split('/')[0] ?? ''}/*`, mediaType];
  for (let specific = forms.length - 1; specific >= 0; specific--) {
    const qualities = ranges.filter(({ type }) => type === forms[specific]).map(({ quality }) => quality);
    if (qualities.length > 0) return { quality: Math.max(...qualities), specific };
  }
  return undefined;
}

/** The form that the parameter of this name asks for. What is wrong with the query is told in its turn. */
export function formatOf(query: string, name: string): string | undefined {
  if (!query.includes(name)) return undefined;
  try {
    return parseQueryString(query).get(name);
  } catch {
    return undefined;
  }
}
