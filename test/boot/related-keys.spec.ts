// @tags nest
import { expect, test } from '@jest/globals';
import {
  AllowAny,
  basic,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ResourceController,
  restify,
  RestifyController,
} from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, problemsOf } from './refused-start.js';

class NoGuard {
  canActivate(): boolean {
    return true;
  }
}

class NoInterceptor {
  intercept(): void {
    // Never called.
  }
}

class NoPipe {
  transform(value: unknown): unknown {
    return value;
  }
}

@Entity('boot_keys_article')
class Article {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Topic) @JoinTable({ name: 'boot_keys_pairs' }) topics: Relation<Topic[]>;
  @ManyToOne(() => Topic) main: Relation<Topic>;
}

@Entity('boot_keys_topic')
class Topic {
  @PrimaryGeneratedColumn() id: number;
}

test.each<[string, RestifyOptions, string]>([
  [
    'a name of no relation',
    { relatedKeys: ['topic'] },
    'Article.relatedKeys.topic: "topic" is not a many-to-many relation that Article shows. Did you mean "topics"?',
  ],
  [
    'a relation to one object',
    { relatedKeys: ['main'] },
    'Article.relatedKeys.main: "main" is not a many-to-many relation that Article shows. Known here: "topics".',
  ],
  [
    'a relation that is not shown',
    { relatedKeys: ['topics'], exclude: ['topics'] },
    'Article.relatedKeys.topics: "topics" is not a many-to-many relation that Article shows. There is none to name here.',
  ],
  [
    'pairs without a list',
    { relatedKeys: ['topics'], through: { topics: { operations: ['create'] } } },
    'Article.relatedKeys.topics: its pairs are not read: article_topics has no list, or does not show the key of Topic. Serve the list of article_topics with that key: the field has the keys that the list shows.',
  ],
  ...(
    [
      ['an authentication', { authentication: [basic(() => null)], permissions: [AllowAny] }],
      ['guards', { guards: [NoGuard], permissions: [AllowAny] }],
      ['interceptors', { interceptors: [NoInterceptor] }],
      ['pipes', { pipes: [NoPipe] }],
    ] as const
  ).map(([what, options]): [string, RestifyOptions, string] => [
    `${what} of pairs alone`,
    { relatedKeys: ['topics'], through: { topics: options } },
    `Article.relatedKeys.topics: article_topics has ${what} of its own, which requests to Article would bypass. Give both the same, say it by permissions, or leave the relation a link.`,
  ]),
])('%s refuses to start', async (_, options, problem) => {
  declareUnchecked(Article, { app: 'boot', ...options });
  restify(Topic, 'boot');
  expect(await problemsOf({ entities: [Article, Topic] })).toEqual([problem]);
});

@Entity('boot_keys_club')
class Club {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Person)
  @JoinTable({
    name: 'boot_keys_member',
    joinColumn: { name: 'clubId' },
    inverseJoinColumn: { name: 'personId' },
    synchronize: false,
  })
  members: Relation<Person[]>;
}

@Entity('boot_keys_person')
class Person {
  @PrimaryColumn({ type: 'float' }) id: number;
}

@Entity('boot_keys_member')
class Member {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Club, { nullable: false }) club: Relation<Club>;
  @ManyToOne(() => Person, { nullable: false }) person: Relation<Person>;
  @Column({ length: 10 }) role: string;
}

@RestifyController(Member)
class MemberController extends ResourceController<Member> {
  override create(): Promise<object> {
    return Promise.resolve({});
  }
}

@RestifyController(Club)
class ClubController {
  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'members', { methods: ['DELETE'] })
  leave(): void {
    // Never called.
  }
}

test('what cannot be written by two keys refuses to start, and what methods replace', async () => {
  restify(Club, { app: 'boot', relatedKeys: ['members'] });
  restify(Person, 'boot');
  restify(Member, 'boot');
  const place = 'Club.relatedKeys.members: ';
  const entities = [Club, Person, Member];
  const problems = await problemsOf({ entities, controllers: [MemberController, ClubController] });
  expect(problems.filter((line) => line.startsWith(place)).map((line) => line.slice(place.length))).toEqual([
    'keys of Person are of the kind float, and cannot be listed. Leave the relation a link.',
    'the table of Member may hold a pair twice. Give it a unique index over its two sides: @Unique([…]) on Member.',
    'a pair cannot be created by its two keys: "role" of Member is required. Give its column a default, let it be null, or leave the relation a link.',
    'Member has operations that MemberController replaces, which requests to Club would bypass. Use beforeWrite and afterWrite there, which run for each pair, or leave the relation a link.',
    'Member has URLs that ClubController.leave replaces, which requests to Club would bypass. Leave the relation a link.',
  ]);
});
