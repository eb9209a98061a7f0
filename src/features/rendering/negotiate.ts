import { chooseRenderer } from './negotiate-renderer.js';

/** Throws 406 where the Accept header leaves JSON out, of what has no other form. */
export function negotiate(accept: string | undefined): void {
  chooseRenderer([], { accept, format: undefined });
}
