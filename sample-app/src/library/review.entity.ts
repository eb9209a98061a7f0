import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Book } from './book.entity.js';

/** A model with options for its lists: filters by lookup, search fields and ordering. */
@Restify({
  app: 'library',
  description: 'What readers say of books.',
  label: 'text',
  labels: { one: 'Review', many: 'Reviews' },
  filterFields: {
    id: ['exact'],
    text: ['exact', 'icontains'],
    stars: ['exact', 'ne', 'gte', 'lte'],
    book: ['exact'],
  },
  searchFields: ['text'],
  ordering: ['-stars'],
})
@Entity('library_review')
export class Review {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  text: string;

  @Column({ default: 0 })
  stars: number;

  @ManyToOne(() => Book, (book) => book.reviews, { nullable: false, onDelete: 'CASCADE' })
  book: Relation<Book>;
}
