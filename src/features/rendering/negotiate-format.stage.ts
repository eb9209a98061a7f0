import { NotAcceptable, NotFound } from '../../core/errors/http-exceptions.js';
import { FORMAT_PARAMETER, JSON_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import type { Renderer, ResponseFormat } from '../../core/contracts/renderer.js';
import type { Operation } from '../../core/schema/operation.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { parseQueryString } from '../../request/parse/parse-query-string.js';
import type { Stage } from '../../request/rest-context.js';

interface Range {
  readonly type: string;
  readonly quality: number;
}

interface Fit {
  readonly quality: number;
  /** 0 for any type, 1 for any subtype, 2 for the type itself. */
  readonly specific: number;
}

/** An `Accept` without a range, which excludes nothing: empty elements of a list do not count (RFC 9110, 5.6.1). */
const EMPTY_LIST = /^[\s,]*$/;

/** How specific a range is that is the type itself. */
const NAMED = 2;
const UNFIT: Fit = { quality: 0, specific: 0 };

const JSON_FORMAT: ResponseFormat = { format: 'json', mediaType: JSON_MEDIA_TYPE };

/** The parts of a request that name a format. */
interface RequestedFormat {
  readonly accept: string | undefined;
  /** The value of the format parameter. */
  readonly format: string | undefined;
}

/** Chooses the media type of the response by `Accept`, and by the format parameter where the model has renderers. Throws 404 and 406. */
export function negotiateFormat(resource: Resource, operation: Operation | undefined): Stage {
  const { renderers } = resource;
  if (renderers.length === 0 || (operation !== 'list' && operation !== 'retrieve'))
    return (context) => {
      assertAcceptsJson(context.header('accept'));
    };
  const parameter = parameterName(FORMAT_PARAMETER, resource);
  return (context) => {
    context.renderer = chooseRenderer(renderers, {
      accept: context.header('accept'),
      format: formatOf(context.exchange?.query ?? '', parameter),
    });
  };
}

/**
 * Chooses the renderer of a response; undefined for JSON. A format by name (`?format=csv`) has precedence over `Accept`.
 * Throws 404 for an unknown format, as DRF does, and 406 if none is acceptable.
 */
function chooseRenderer(
  renderers: readonly Renderer[],
  { accept, format }: RequestedFormat,
): Renderer | undefined {
  const isNamed = format !== undefined && format !== '';
  if (!isNamed && (accept === undefined || EMPTY_LIST.test(accept))) return undefined;
  const formats = [JSON_FORMAT, ...renderers];
  const chosen = isNamed ? namedFormat(formats, format) : acceptedFormat(formats, accept ?? '');
  return renderers.find((renderer) => renderer === chosen);
}

/** Throws 406 if the `Accept` header excludes JSON, for a response without another format. */
export function assertAcceptsJson(accept: string | undefined): void {
  chooseRenderer([], { accept, format: undefined });
}

function namedFormat(formats: readonly ResponseFormat[], name: string): ResponseFormat {
  const named = formats.find(({ format }) => format === name);
  if (!named) throw new NotFound();
  return named;
}

/** Of several acceptable formats: highest quality, most specific range, then the first (RFC 9110, 12.5.1). */
function acceptedFormat(formats: readonly ResponseFormat[], accept: string): ResponseFormat {
  const ranges = accept.split(',').map(parseRange);
  let best: { readonly fit: Fit; readonly format: ResponseFormat } | undefined;
  for (const format of formats) {
    const fit = fitOf(format.mediaType, ranges);
    if (fit && fit.quality > 0 && (!best || isBetter(fit, best.fit))) best = { fit, format };
  }
  if (!best) throw new NotAcceptable();
  return best.format;
}

function isBetter(one: Fit, other: Fit): boolean {
  return one.quality > other.quality || (one.quality === other.quality && one.specific > other.specific);
}

function parseRange(text: string): Range {
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

/**
 * Whether an `Accept` header names a media type, and prefers it to each of the others: it has a higher quality, or the same
 * one where the other is only in a range of types.
 */
export function prefersType(mediaType: string, others: readonly string[], accept: string): boolean {
  const ranges = accept.split(',').map(parseRange);
  const fit = fitOf(mediaType, ranges);
  if (fit?.specific !== NAMED || fit.quality <= 0) return false;
  return others.every((other) => isBetter(fit, fitOf(other, ranges) ?? UNFIT));
}

/** Whether an `Accept` header names a media type, with a higher quality than each of the others. */
export function outranksTypes(mediaType: string, others: readonly string[], accept: string): boolean {
  const ranges = accept.split(',').map(parseRange);
  const fit = fitOf(mediaType, ranges);
  return (
    fit?.specific === NAMED && others.every((other) => fit.quality > (fitOf(other, ranges) ?? UNFIT).quality)
  );
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
