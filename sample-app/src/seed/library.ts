import type { EntityManager } from 'typeorm';
import { Author } from '../library/author.entity.js';
import { Book } from '../library/book.entity.js';
import { Review } from '../library/review.entity.js';

interface SampleBook {
  readonly title: string;
  readonly authors: readonly string[];
  readonly reviews: readonly (readonly [text: string, stars: number])[];
}

const BOOKS: readonly SampleBook[] = [
  {
    title: 'The C Programming Language',
    authors: ['Kernighan', 'Ritchie'],
    reviews: [
      ['Short and clear', 4],
      ['A classic', 5],
    ],
  },
  {
    title: 'The Practice of Programming',
    authors: ['Kernighan', 'Pike'],
    reviews: [['Still useful after all these years', 5]],
  },
  {
    title: 'The Unix Programming Environment',
    authors: ['Kernighan', 'Pike'],
    reviews: [
      ['Teaches how to think in pipes', 5],
      ['Some commands are gone', 3],
    ],
  },
  {
    title: 'Structure and Interpretation of Computer Programs',
    authors: ['Abelson', 'Sussman'],
    reviews: [
      ['Changed how I see programs', 5],
      ['The exercises are hard', 4],
      ['Too many parentheses', 2],
    ],
  },
  {
    title: 'Design Patterns',
    authors: ['Gamma', 'Helm', 'Johnson', 'Vlissides'],
    reviews: [
      ['Names for what we did anyway', 4],
      ['Read it, then use half as much', 3],
    ],
  },
  { title: 'Refactoring', authors: ['Fowler'], reviews: [['Small steps, always green', 5]] },
  {
    title: 'The Mythical Man-Month',
    authors: ['Brooks'],
    reviews: [
      ['Adding people did make it later', 5],
      ['Give it to your manager', 4],
    ],
  },
  { title: 'Programming Pearls', authors: ['Bentley'], reviews: [['Columns to read with a pencil', 4]] },
  {
    title: 'Designing Data-Intensive Applications',
    authors: ['Kleppmann'],
    reviews: [
      ['The map that I needed', 5],
      ['Thick, and worth it', 5],
    ],
  },
  { title: 'Release It!', authors: ['Nygard'], reviews: [['Every chapter is an outage that I had', 4]] },
];

export async function seedLibrary(manager: EntityManager): Promise<void> {
  const names = [...new Set(BOOKS.flatMap(({ authors }) => authors))];
  const authors = await manager.save(
    Author,
    names.map((name) => ({ name })),
  );
  for (const { title, authors: written, reviews } of BOOKS) {
    const book = await manager.save(Book, {
      title,
      authors: authors.filter(({ name }) => written.includes(name)),
    });
    await manager.save(
      Review,
      reviews.map(([text, stars]) => ({ text, stars, book })),
    );
  }
}
