import { createHash, timingSafeEqual as equalBuffers } from 'node:crypto';

/** Whether two secrets are the same, in a time that tells neither how they differ nor how long they are. */
export function timingSafeEqual(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return equalBuffers(digest(given), digest(expected));
}
