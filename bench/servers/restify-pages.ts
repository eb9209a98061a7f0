import { PageNumberPagination, Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { JSON_TYPE } from './data-source-options.js';

@Restify({ app: 'lab', filterFields: { value: ['gte', 'lt'] } })
@Entity()
class Measurement {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  label: string;

  @Column()
  value: number;
}

const PAGES = new PageNumberPagination({ pageSize: 100 });

@Restify({ app: 'blog', pagination: PAGES })
@Entity()
class Post {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  title: string;

  @Column({ precision: 3 })
  published_at: Date;

  @OneToMany(() => Comment, (comment) => comment.post)
  comments: Relation<Comment[]>;

  @OneToMany(() => Revision, (revision) => revision.post)
  revisions: Relation<Revision[]>;
}

@Restify('blog')
@Entity()
class Comment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  text: string;

  @ManyToOne(() => Post, (post) => post.comments, { nullable: false })
  @JoinColumn({ name: 'post_id' })
  post: Relation<Post>;
}

@Restify('blog')
@Entity()
class Revision {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  text: string;

  @ManyToOne(() => Post, (post) => post.revisions, { nullable: false })
  @JoinColumn({ name: 'post_id' })
  post: Relation<Post>;
}

@Restify({ app: 'lab', pagination: PAGES })
@Entity()
class Device {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  name: string;

  @Column({ type: JSON_TYPE })
  settings: object;
}

export const PAGE_ENTITIES = [Measurement, Post, Comment, Revision, Device];
