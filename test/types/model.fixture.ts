import { FieldFilter, ModelSerializer, Restify, restify, where } from 'nestjs-restify';
import type { Relation } from 'typeorm';

// The sources of options.spec.ts are made from this one, each with options of its own.
export const USED = [FieldFilter, ModelSerializer, Restify, restify, where];

export class Person {
  id: number;
  name: string;
  posts: Relation<Post[]>;
}

export class Question {
  id: number;
  pub_date: Date;
  author: Relation<Person>;
}

export class Address {
  city: string;
}

/* @Restify */
export class Post {
  id: number;
  /* on a property */
  title: string;
  votes: number;
  draft: boolean;
  secret: string | null;
  created: Date;
  address: Address;
  meta: object | null;
  question: Question;
  author: Relation<Person>;
  editor: Person | null;
  reviewer: Promise<Person>;
  proofreader: Promise<Relation<Person> | null>;

  shout(): string {
    return this.title.toUpperCase();
  }

  whisper(): string {
    return this.title.toLowerCase();
  }
}
