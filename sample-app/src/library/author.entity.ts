import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { Book } from './book.entity.js';

@Restify({
  app: 'library',
  description: 'People who write books.',
  label: 'name',
  labels: { one: 'Author', many: 'Authors' },
  counts: ['books'],
})
@Entity('library_author')
export class Author {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @ManyToMany(() => Book, (book) => book.authors)
  books: Relation<Book[]>;
}
