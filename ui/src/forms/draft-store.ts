import type { Draft } from './draft.js';

/** Keeps what was typed for as long as the tab is open, so that neither Back nor an expired login loses it. */
export class DraftStore {
  private readonly name: string;

  static has(form: string): boolean {
    return Object.keys(new DraftStore(form).read()).length > 0;
  }

  /** @param form what is edited: the method and the path. */
  constructor(form: string) {
    this.name = `restify.draft ${form}`;
  }

  read(): Draft {
    const stored = sessionStorage.getItem(this.name);
    if (stored === null) return {};
    try {
      return JSON.parse(stored) as Draft;
    } catch {
      return {};
    }
  }

  write(draft: Draft): void {
    try {
      if (Object.keys(draft).length === 0) sessionStorage.removeItem(this.name);
      else sessionStorage.setItem(this.name, JSON.stringify(draft));
    } catch {
      // The storage is full, as by a large file: the draft lives with the page.
    }
  }
}
