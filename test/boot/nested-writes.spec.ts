// @tags nest
import { expect, test } from '@jest/globals';
import {
  AllowAny,
  basic,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  ResourceController,
  restify,
  RestifyController,
} from 'nestjs-restify';
import type { RestifyOptions } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, OneToOne, PrimaryGeneratedColumn } from 'typeorm';
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

@Entity('boot_nested_article')
class Article {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) title: string;
  @OneToMany(() => Remark, (remark) => remark.article) remarks: Relation<Remark[]>;
  @OneToOne(() => Cover, (cover) => cover.article) cover: Relation<Cover>;
}

@Entity('boot_nested_remark')
class Remark {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Article, (article) => article.remarks, { nullable: false }) article: Relation<Article>;
}

@Entity('boot_nested_cover')
class Cover {
  @PrimaryGeneratedColumn() id: number;
  @OneToOne(() => Article, (article) => article.cover, { nullable: false })
  @JoinColumn()
  article: Relation<Article>;
}

const BYPASSED = 'which requests to Article would bypass.';
const SAME = 'Say it by permissions, or write these objects at their own URL.';

test.each<[string, RestifyOptions, RestifyOptions, string]>([
  [
    'a name of no relation',
    { nested: ['remark'] },
    {},
    'remark: "remark" is neither a one-to-many relation nor the other side of a one-to-one that Article shows. Did you mean "remarks"?',
  ],
  [
    'a column',
    { nested: { title: { create: true } } },
    {},
    'title: "title" is neither a one-to-many relation nor the other side of a one-to-one that Article shows. Known here: "remarks", "cover".',
  ],
  [
    'a relation that is not shown',
    { nested: ['remarks'], exclude: ['remarks', 'cover'] },
    {},
    'remarks: "remarks" is neither a one-to-many relation nor the other side of a one-to-one that Article shows. There is none to name here.',
  ],
  [
    'a verb that the objects have no operation for',
    { nested: { remarks: { create: true, delete: true } } },
    { operations: ['list', 'create'] },
    'remarks: Remark has no operation for "delete". Add \'destroy\' to its operations, or leave the verb out.',
  ],
  [
    'no verb',
    { nested: { remarks: { create: false } } },
    {},
    'remarks: it has no verb by which objects are written. Write { remarks: { create: true } }, with any of create, update, delete.',
  ],
  [
    'no operation',
    { nested: ['remarks'] },
    { operations: ['list'] },
    'remarks: it has no verb by which objects are written. Write { remarks: { create: true } }, with any of create, update, delete.',
  ],
  [
    'a read-only field',
    { nested: ['remarks'], readOnly: ['remarks'] },
    {},
    'remarks: "remarks" is among the readOnly fields of Article. Name it in one of both.',
  ],
  [
    'a parent that is only read',
    { nested: ['remarks'], operations: ['list', 'retrieve', 'destroy'] },
    {},
    'remarks: no operation of Article writes objects. Leave the relation a link.',
  ],
  [
    'objects without a key',
    { nested: ['remarks'] },
    { exclude: ['id'] },
    "remarks: objects of Remark cannot be named: it does not show its key. Show the key, or leave the verb 'update' out.",
  ],
  ...(
    [
      ['an authentication of its own', { authentication: [basic(() => null)], permissions: [AllowAny] }],
      ['guards of its own', { guards: [NoGuard], permissions: [AllowAny] }],
      ['interceptors of its own', { interceptors: [NoInterceptor] }],
      ['pipes', { pipes: [NoPipe] }],
      ['a required If-Match', { conditional: { require: true } }],
    ] as const
  ).map(([what, options]): [string, RestifyOptions, RestifyOptions, string] => [
    what,
    { nested: ['remarks'], conditional: { require: true } },
    options,
    `remarks: Remark has ${what}, ${BYPASSED} ${SAME}`,
  ]),
])('%s refuses to start', async (_, options, ofRemarks, problem) => {
  declareUnchecked(Article, { app: 'boot', ...options });
  declareUnchecked(Remark, { app: 'boot', ...ofRemarks });
  restify(Cover, 'boot');
  expect(await problemsOf({ entities: [Article, Remark, Cover] })).toEqual([`Article.nested.${problem}`]);
});

test('pipes and a required If-Match of both refuse to start, too', async () => {
  restify(Article, { app: 'boot', nested: ['remarks'], pipes: [NoPipe], conditional: { require: true } });
  restify(Remark, { app: 'boot', pipes: [NoPipe], conditional: { require: true } });
  restify(Cover, 'boot');
  expect(await problemsOf({ entities: [Article, Remark, Cover] })).toEqual([
    `Article.nested.remarks: Remark has pipes, ${BYPASSED} ${SAME}`,
    `Article.nested.remarks: Remark has a required If-Match, ${BYPASSED} ${SAME}`,
  ]);
});

@Entity('boot_nested_page')
class Page {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Line, (line) => line.page) lines: Relation<Line[]>;
}

@Entity('boot_nested_line')
class Line {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Page, (page) => page.lines, { nullable: false }) page: Relation<Page>;
}

@RestifyController(Line)
class LineController extends ResourceController<Line> {
  override update(): Promise<object> {
    return Promise.resolve({});
  }
}

@RestifyController(Page)
class PageController {
  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'lines', { methods: ['POST'] })
  add(): void {
    // Never called.
  }
}

test('what methods replace refuses to start', async () => {
  restify(Page, { app: 'boot', nested: { lines: { update: true } } });
  restify(Line, 'boot');
  const problems = await problemsOf({
    entities: [Page, Line],
    controllers: [LineController, PageController],
  });
  expect(problems).toEqual([
    'Page.nested.lines: Line has operations that LineController replaces, which requests to Page would bypass. Use beforeWrite and afterWrite there, which run for each object, or write these at their own URL.',
    'Page.nested.lines: Line has URLs that PageController.add replaces, which requests to Page would bypass. Write these objects at their own URL.',
  ]);
});

test.each([
  [{ nested: 'remarks' }, 'Article.nested: '],
  [{ nested: { remarks: true } }, 'Article.nested.remarks: '],
  [{ nested: { remarks: { create: 1 } } }, 'Article.nested.remarks.create: '],
  [{ nested: { remarks: { move: true } } }, 'Article.nested.remarks.move: '],
])('%j refuses to start', async (options, place) => {
  declareUnchecked(Article, { app: 'boot', ...options });
  restify(Remark, 'boot');
  restify(Cover, 'boot');
  const [problem, ...more] = await problemsOf({ entities: [Article, Remark, Cover] });
  expect(more).toEqual([]);
  expect(problem?.startsWith(place)).toBe(true);
});
