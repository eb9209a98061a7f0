import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Author } from './author.entity.js';
import { Review } from './review.entity.js';

/** A many-to-many relation with a plain join table, without an entity. */
@Restify({
  app: 'library',
  description: 'Books with their authors.',
  label: 'title',
  labels: { one: 'Book', many: 'Books' },
  counts: ['reviews'],
  filterFields: { id: ['exact'], title: ['exact', 'icontains'], authors: ['exact'] },
})
@Entity('library_book')
export class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 120 })
  title: string;

  @ManyToMany(() => Author, (author) => author.books)
  @JoinTable({ name: 'library_book_authors' })
  authors: Relation<Author[]>;

  @OneToMany(() => Review, (review) => review.book)
  reviews: Relation<Review[]>;
}
