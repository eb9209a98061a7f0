import { chooseRenderer } from './negotiate-renderer.js';

/** Throws 406 if the Accept header excludes JSON, for a response without another format. */
export function negotiate(accept: string | undefined): void {
  chooseRenderer([], { accept, format: undefined });
}
