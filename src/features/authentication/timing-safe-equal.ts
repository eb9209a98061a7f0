import { createHash, timingSafeEqual as equalBuffers } from 'node:crypto';

/** Compares two secrets in a time that depends neither on their difference nor on their length. */
export function timingSafeEqual(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return equalBuffers(digest(given), digest(expected));
}
