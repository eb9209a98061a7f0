import type { Json } from '../styles.js';
import { Random } from './random.js';
import { READERS } from './users.js';
import { PLAIN_EXTRA } from './variants.js';
import type { Variant } from './variants.js';

export const CATEGORIES = 20;
/** Rows of each reader: a list has 100 rows, or two pages of 100 and a partial one. */
const ROWS = 100;
const PAGED_ROWS = 250;

export interface NewItem {
  readonly title: string;
  readonly code: string;
  readonly rating: number;
  readonly extra: Json;
  readonly category: number;
  readonly owner: number;
}

export interface Item extends NewItem {
  readonly id: number | string;
}

/** A word that all titles of the user's rows contain. */
export function wordOf(owner: number): string {
  return new Random(owner).words(2, 2).slice(0, 20).trim();
}

export function newItem({ extra = PLAIN_EXTRA }: Variant, random: Random, owner: number): NewItem {
  return {
    title: newTitle(random, owner),
    code: `C${random.integer(10_000, 99_999)}-${random.word()}`,
    rating: random.integer(0, 1000),
    extra: extra.value(random),
    category: random.integer(1, CATEGORIES),
    owner,
  };
}

export function newTitle(random: Random, owner: number): string {
  return `${random.words(1, 3)} ${wordOf(owner)} ${random.words(1, 3)}`.slice(0, 100).trim();
}

/** The seeded rows. Those of one user are not adjacent, as in a table to which many users write. */
export function seededItems(variant: Variant): Item[] {
  const random = new Random(variant.name.length * 7919);
  const count = READERS * (variant.paged ? PAGED_ROWS : ROWS);
  return Array.from({ length: count }, (_, index) => ({
    id: variant.uuidKey ? random.uuid() : index + 1,
    ...newItem(variant, random, (index % READERS) + 1),
  }));
}
