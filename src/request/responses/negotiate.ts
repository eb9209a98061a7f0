import { NotAcceptable } from '../../errors/request-errors.js';

const RANGES: readonly string[] = ['application/json', 'application/*', '*/*'];

/** Throws 406 where the Accept header leaves JSON out (RFC 9110, 12.5.1: the most specific range decides). */
export function negotiate(accept: string | undefined): void {
  if (accept === undefined || accept.trim() === '') return;
  const qualities = new Map<string, number>();
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    if (RANGES.includes(range)) qualities.set(range, Math.max(qualities.get(range) ?? 0, qualityOf(parameters)));
  }
  const decisive = RANGES.find((range) => qualities.has(range));
  if (decisive === undefined || qualities.get(decisive) === 0) throw new NotAcceptable();
}

function qualityOf(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return Number.isFinite(value) ? value : 0;
}
