// @tags db nest
import { Injectable } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  DeclarationError,
  FieldFilter,
  ModelSerializer,
  OrderingFilter,
  Restify,
  RestifyModule,
  restify,
  RestifyOpenApi,
} from 'nestjs-restify';
import type { FilterBackend, FilterResult, Representation, RepresentContext, Row } from 'nestjs-restify';
import {
  ChildEntity,
  Column,
  Entity,
  EntitySchema,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { resolveParameters } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { declareUnchecked, linesOf, problemsOf, refusal } from './refused-start.js';
import { startModules } from './start-modules.js';

const MANY = 'Name a field of this model or of one that it refers to.';

describe('the error of a bad declaration', () => {
  @Entity()
  class OneMistake {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    title: string;
  }
  declareUnchecked(OneMistake, { app: 'desk', exclude: ['titel'] });

  @Entity()
  class MoreMistakes {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    title: string;
  }
  declareUnchecked(MoreMistakes, { app: 'Desk', operations: ['destory'] });

  test('has the problem, its location and the repair', async () => {
    const error = await refusal({ entities: [OneMistake] });
    expect(error).toBeInstanceOf(DeclarationError);
    expect(error.name).toBe('DeclarationError');
    expect(error.problems).toEqual([
      {
        where: 'OneMistake.exclude[0]',
        what: '"titel" is not a field of OneMistake',
        repair: 'Did you mean "title"?',
      },
    ]);
    expect(error.message).toBe(
      'nestjs-restify does not start, because a declaration is wrong:\n  - OneMistake.exclude[0]: "titel" is not a field of OneMistake. Did you mean "title"?',
    );
  });

  test('holds all mistakes of all entities', async () => {
    const error = await refusal({ entities: [OneMistake, MoreMistakes] });
    expect(error.problems).toHaveLength(3);
    expect(error.message).toBe(
      [
        'nestjs-restify does not start, because 3 declarations are wrong:',
        '  - MoreMistakes.app: "Desk" is not allowed in a path. Write "desk": lower-case letters, digits, "_" and "-".',
        '  - OneMistake.exclude[0]: "titel" is not a field of OneMistake. Did you mean "title"?',
        '  - MoreMistakes.operations[0]: "destory" is not an operation. Did you mean "destroy"?',
      ].join('\n'),
    );
  });
});

describe('a path', () => {
  abstract class Numbered {
    @PrimaryGeneratedColumn()
    id: number;
  }

  @Restify()
  @Entity()
  class Unlabelled extends Numbered {}

  @Restify('Blog Posts')
  @Entity()
  class BlankInApp extends Numbered {}

  @Restify({ app: 'desk', name: 'The Memo!' })
  @Entity()
  class BlankInName extends Numbered {}

  @Restify('')
  @Entity()
  class EmptyApp extends Numbered {}

  @Restify('rest/desk')
  @Entity()
  class SlashInApp extends Numbered {}

  @Restify({ app: 'desk', name: 'twin' })
  @Entity()
  class FirstTwin extends Numbered {}

  @Restify({ app: 'desk', name: 'twin' })
  @Entity()
  class SecondTwin extends Numbered {}

  @Restify()
  @Entity()
  class LabelledElsewhere extends Numbered {}

  test('needs two lower-case words, of which no other entity has both', async () => {
    const entities = [
      Unlabelled,
      BlankInApp,
      BlankInName,
      EmptyApp,
      SlashInApp,
      FirstTwin,
      SecondTwin,
      LabelledElsewhere,
    ];
    const lines = await problemsOf({
      entities,
      imports: [RestifyModule.forFeature('Über', [LabelledElsewhere])],
    });
    expect(lines).toEqual([
      "Unlabelled: it has no app label. Write @Restify('blog'), or RestifyModule.forFeature('blog', [Unlabelled]) in a module.",
      'BlankInApp.app: "Blog Posts" is not allowed in a path. Write "blog-posts": lower-case letters, digits, "_" and "-".',
      'BlankInName.name: "The Memo!" is not allowed in a path. Write "the-memo": lower-case letters, digits, "_" and "-".',
      'EmptyApp.app: "" is not allowed in a path. Write "blog": lower-case letters, digits, "_" and "-".',
      'SlashInApp.app: "rest/desk" is not allowed in a path. Write "rest-desk": lower-case letters, digits, "_" and "-".',
      'LabelledElsewhere.app: "Über" is not allowed in a path. Write "ber": lower-case letters, digits, "_" and "-".',
      "FirstTwin, SecondTwin: all of them have the path \"desk/twin\". Give one of them a name of its own: @Restify({ app: 'desk', name: 'othertwin' }).",
    ]);
  });
});

describe('names of properties', () => {
  class Address {
    @Column()
    city: string;
  }

  @Entity()
  class Folder {
    @PrimaryGeneratedColumn()
    id: number;
  }

  @Entity()
  class Memo {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    title: string;

    @Column()
    body: string;

    @Column({ select: false })
    secret: string;

    @Column({ select: false })
    hidden: string;

    @Column(() => Address)
    address: Address;

    @ManyToOne(() => Folder)
    folder: Relation<Folder>;

    shout(): string {
      return this.title;
    }
  }
  declareUnchecked(Memo, {
    app: 'desk',
    fields: ['id', 'titel', 'secret', 'hidden', 'body', 'address', 'folder', 'shuot', 'folderId'],
    exclude: ['zzzzzzzz', 'hidden', 'address.city'],
    readOnly: ['boddy', 'body', 'hidden'],
    writeOnly: ['secret', 'body', 'fodler'],
    optional: ['adress', 'title'],
    trim: { titel: true, title: false },
  });

  test('in fields, exclude, readOnly, writeOnly, optional and trim are names that the entity has', async () => {
    const known = 'Known here: "id", "title", "body", "secret", "hidden", "address", "folder".';
    const hidden =
      '"hidden" is a column with select: false, and is never shown. Take it out, or name it in writeOnly to let clients set it.';
    expect(await problemsOf({ entities: [Memo, Folder] })).toEqual([
      'Memo.fields[1]: "titel" is not a field of Memo. Did you mean "title"?',
      `Memo.fields[3]: ${hidden}`,
      `Memo.fields[7]: "shuot" is not a field of Memo. ${known}`,
      'Memo.fields[8]: "folderId" is not a field of Memo. Did you mean "folder"?',
      `Memo.exclude[0]: "zzzzzzzz" is not a field of Memo. ${known}`,
      `Memo.exclude[2]: "address.city" is not a field of Memo. ${known}`,
      'Memo.readOnly[0]: "boddy" is not a field of Memo. Did you mean "body"?',
      'Memo.writeOnly[2]: "fodler" is not a field of Memo. Did you mean "folder"?',
      'Memo.optional[0]: "adress" is not a field of Memo. Did you mean "address"?',
      'Memo.trim.titel: "titel" is not a field of Memo. Did you mean "title"?',
      'Memo.readOnly: "body" is writeOnly as well. Name it in one of the two, or in exclude to leave it out.',
    ]);
  });
});

describe('computed fields and operations', () => {
  class Machine {
    whirr(): string {
      return 'whirr';
    }
  }

  @Entity()
  class Robot extends Machine {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    name: string;

    get label(): string {
      return this.name;
    }

    beep(): string {
      return 'beep';
    }
  }
  declareUnchecked(Robot, {
    app: 'desk',
    computed: {
      name: 'beep',
      sound: 'beeep',
      other: 'whir',
      title: 'label',
      length: (robot: Robot) => robot.name.length,
    },
  });

  @Entity()
  class Mute {
    @PrimaryGeneratedColumn()
    id: number;
  }
  declareUnchecked(Mute, {
    app: 'desk',
    computed: { sound: 'beep' },
    operations: ['list', 'patch', 'destory', 'Retrieve'],
  });

  test('come from a method that the entity has, and are among the six', async () => {
    expect(await problemsOf({ entities: [Robot, Mute] })).toEqual([
      'Robot.computed.name: "name" is a field already. Give the computed field another name.',
      'Robot.computed.sound: "beeep" is not a method of Robot. Did you mean "beep"?',
      'Robot.computed.other: "whir" is not a method of Robot. Did you mean "whirr"?',
      'Robot.computed.title: "label" is not a method of Robot. Known here: "beep", "whirr".',
      'Mute.computed.sound: "beep" is not a method of Mute. Write a function of the entity.',
      'Mute.operations[1]: "patch" is not an operation. Known here: "list", "create", "retrieve", "update", "partialUpdate", "destroy", "listDeleted", "restore", "purge".',
      'Mute.operations[2]: "destory" is not an operation. Did you mean "destroy"?',
      'Mute.operations[3]: "Retrieve" is not an operation. Did you mean "retrieve"?',
    ]);
  });
});

describe('names in queries', () => {
  @Restify('market')
  @Entity()
  class Owner {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    name: string;
  }

  @Restify('market')
  @Entity()
  class Place {
    @PrimaryColumn()
    row: number;

    @PrimaryColumn()
    number: number;
  }

  @Restify('market')
  @Entity()
  class Item {
    @PrimaryGeneratedColumn()
    id: number;

    @ManyToOne(() => Shop, (shop) => shop.items)
    shop: Relation<Shop>;
  }

  @Entity()
  class Shop {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    name: string;

    @Column()
    price: number;

    @Column()
    open: boolean;

    @Column('simple-json')
    data: object;

    @Column()
    secret: string;

    @Column({ select: false })
    hidden: string;

    @ManyToOne(() => Owner)
    owner: Relation<Owner>;

    @ManyToOne(() => Place)
    place: Relation<Place>;

    @OneToMany(() => Item, (item) => item.shop)
    items: Relation<Item[]>;
  }

  const ENTITIES = [Owner, Place, Item, Shop];
  const known = 'Known here: "id", "name", "price", "open", "owner", "place".';

  test('in filterFields lead to one readable value that a URL can hold', async () => {
    declareUnchecked(Shop, {
      app: 'market',
      writeOnly: ['secret'],
      filterFields: [
        'nmae',
        'items',
        'secret',
        'hidden',
        'owner.nmae',
        'owner.id',
        'data',
        'items.id',
        'name.length',
        'xyzzyxyzzy',
        'items.nmae',
        'items.shop.secret',
        'items.shop.name',
      ],
    });
    expect(await problemsOf({ entities: ENTITIES })).toEqual([
      'Shop.filterFields[0]: "nmae" is not a readable field of Shop. Did you mean "name"?',
      'Shop.filterFields[2]: "secret" is write-only, and would leak through a query. Take it out.',
      'Shop.filterFields[3]: "hidden" is write-only, and would leak through a query. Take it out.',
      'Shop.filterFields[4]: "owner.nmae" leads to no readable field of Owner. Did you mean "owner.name"?',
      'Shop.filterFields[6]: json values cannot be compared in a URL. Use isnull, or leave it out.',
      'Shop.filterFields[8]: "name" is a column of the type string, which has no values by key. Name the column alone, or a path into a column of JSON.',
      `Shop.filterFields[9]: "xyzzyxyzzy" is not a readable field of Shop. ${known}`,
      'Shop.filterFields[10]: "items.nmae" leads to no readable field of Item. Known here: "items.id", "items.shop".',
      'Shop.filterFields[11]: "items.shop.secret" leads to no readable field of Item. Known here: "items.id", "items.shop".',
    ]);
  });

  test('in filterFields have lookups that exist and fit', async () => {
    declareUnchecked(Shop, {
      app: 'market',
      filterFields: {
        nmae: ['exact'],
        price: ['gte', 'contains', 'gtee'],
        name: ['icontains'],
        owner: ['gt', 'isnull', 'in'],
        place: ['exact', 'in', 'isnull'],
        data: ['isnull', 'contains'],
        'owner.nmae': ['exact'],
        open: ['exact', 'gt', 'icontains', 'range'],
        items: ['exact', 'isnull', 'gte'],
        'items.id': ['in', 'contains'],
      },
    });
    expect(await problemsOf({ entities: ENTITIES })).toEqual([
      'Shop.filterFields.nmae: "nmae" is not a readable field of Shop. Did you mean "name"?',
      'Shop.filterFields.price: "contains" compares texts, and this is integer. Use exact, in, gt, gte, lt or lte.',
      'Shop.filterFields.price: "gtee" is not a lookup. Did you mean "gte"?',
      'Shop.filterFields.owner: "gt" does not fit a relation. A related key is compared by exact, in, ne or isnull.',
      'Shop.filterFields.place: "in" does not fit a composite key. Use exact or isnull.',
      'Shop.filterFields.data: "contains" compares texts, and this is json. Use exact, in, gt, gte, lt or lte.',
      'Shop.filterFields.owner.nmae: "owner.nmae" leads to no readable field of Owner. Did you mean "owner.name"?',
      'Shop.filterFields.open: "gt" does not fit a boolean. Use exact, ne, in or isnull.',
      'Shop.filterFields.open: "icontains" does not fit a boolean. Use exact, ne, in or isnull.',
      'Shop.filterFields.open: "range" does not fit a boolean. Use exact, ne, in or isnull.',
      'Shop.filterFields.items: "gte" does not fit a relation. A related key is compared by exact, in, ne or isnull.',
      'Shop.filterFields.items.id: "contains" compares texts, and this is integer. Use exact, in, gt, gte, lt or lte.',
    ]);
  });

  test('of filters of its own have a name, a type, a function, and readable fields', async () => {
    const rows = (): unknown => undefined;
    declareUnchecked(Shop, {
      app: 'market',
      writeOnly: ['secret'],
      filterGroups: true,
      filters: {
        name: { type: 'text', reads: ['name'], rows },
        price__exact: { type: 'integer', reads: ['price'], rows },
        search: { type: 'text', reads: ['name'], rows },
        filter: { type: 'text', reads: ['name'], rows },
        'a.b': { type: 'text', reads: ['name'], rows },
        near: { type: 'intger', reads: ['prise', 'items.id', 'secret'], rows },
        some: { type: 'choice', reads: [], rows: 'no' },
        none: { reads: 'name', rows },
      },
    });
    const KINDS =
      'Known here: "integer", "number", "decimal", "text", "boolean", "date", "datetime", "uuid", "choice".';
    expect(await problemsOf({ entities: ENTITIES })).toEqual([
      'Shop.filters.name: "name" filters a field already. Give it another name, or take the other one out of filterFields.',
      'Shop.filters.price__exact: "price__exact" filters a field already. Give it another name, or take the other one out of filterFields.',
      'Shop.filters.a.b: "a.b" is not a valid name of a parameter. Begin with a letter, and go on with letters, digits and "_".',
      'Shop.filters.near.type: "intger" is not a type that a parameter can have. Did you mean "integer"?',
      'Shop.filters.near.reads[0]: "prise" is not a readable field of Shop. Did you mean "price"?',
      'Shop.filters.near.reads[2]: "secret" is write-only, and would leak through a query. Take it out.',
      "Shop.filters.some.choices: this is not a list of texts. Write choices: ['open', 'closed'].",
      "Shop.filters.some.rows: this is not a function. Write rows: (value) => where('votes', 'gte', value).",
      "Shop.filters.some.reads: this is not a list of fields. Write reads: ['votes'], so that callers cannot filter by fields that they may not read.",
      `Shop.filters.none.type: "undefined" is not a type that a parameter can have. ${KINDS}`,
      "Shop.filters.none.reads: this is not a list of fields. Write reads: ['votes'], so that callers cannot filter by fields that they may not read.",
      'Shop.filters.search: "search" is a query parameter of a filter backend. Give it another name.',
      'Shop.filters.filter: "filter" is a query parameter of a filter backend. Give it another name.',
    ]);
  });

  test('of limits are those that there are, and numbers that a database takes', async () => {
    declareUnchecked(Shop, {
      app: 'market',
      queryLimits: { value: 10, values: 0, groupDepth: 2.5, groupTerms: '9', searchTerms: 201 },
    });
    const problems = await problemsOf({ entities: ENTITIES, restify: { queryLimits: { groupLength: -1 } } });
    expect(problems).toEqual([
      "RestifyModule.forRoot('rest/v1').queryLimits.groupLength: -1 is not a limit. Write a whole number from 1 to 10000.",
      'Shop.queryLimits.value: "value" is not a limit. Did you mean "values"?',
      'Shop.queryLimits.values: 0 is not a limit. Write a whole number from 1 to 500.',
      'Shop.queryLimits.groupDepth: 2.5 is not a limit. Write a whole number from 1 to 20.',
      'Shop.queryLimits.groupTerms: 9 is not a limit. Write a whole number from 1 to 200.',
      'Shop.queryLimits.searchTerms: 201 is not a limit. Write a whole number from 1 to 200.',
    ]);
  });

  test('leave their parameter its meaning beside a field of that name', async () => {
    @Entity()
    class Coffee {
      @PrimaryGeneratedColumn()
      id: number;

      @Column()
      filter: string;
    }
    declareUnchecked(Coffee, { app: 'market', filterGroups: true });
    const grouped = await startApp({ entities: [Coffee] });
    expect((await grouped.client.get('/rest/v1/market/coffee/?filter=or(')).status).toBe(400);
    expect((await grouped.client.get('/rest/v1/market/coffee/?filter__exact=or(')).json).toEqual([]);
    await grouped.close();
    declareUnchecked(Coffee, { app: 'market' });
    const started = await startApp({ entities: [Coffee] });
    expect((await started.client.get('/rest/v1/market/coffee/?filter=or(')).json).toEqual([]);
    await started.close();
  });

  test('in orderingFields and ordering may have an order of nulls, and no other suffix', async () => {
    declareUnchecked(Shop, {
      app: 'market',
      orderingFields: ['price nulls last', 'nmae nulls first', 'price nulls'],
      ordering: ['-price nulls first', 'prise nulls last', 'price  nulls last'],
    });
    expect(await problemsOf({ entities: ENTITIES })).toEqual([
      'Shop.orderingFields[1]: "nmae" is not a readable field of Shop. Did you mean "name"?',
      expect.stringMatching(/^Shop\.orderingFields\[2\]: "price nulls" is not a readable field of Shop\. /),
      'Shop.ordering[1]: "prise" is not a readable field of Shop. Did you mean "price"?',
      expect.stringMatching(/^Shop\.ordering\[2\]: "price " is not a readable field of Shop\. /),
    ]);
  });

  test('in searchFields lead to texts', async () => {
    declareUnchecked(Shop, {
      app: 'market',
      writeOnly: ['secret'],
      searchFields: ['^nmae', 'price', '=owner', '^secret', 'items', 'owner.name', '^owner.nmae'],
    });
    expect(await problemsOf({ entities: ENTITIES })).toEqual([
      'Shop.searchFields[0]: "nmae" is not a readable field of Shop. Did you mean "name"?',
      'Shop.searchFields[1]: "price" is not a text. A search looks into texts; name it in filterFields instead.',
      'Shop.searchFields[2]: "owner" is not a text. A search looks into texts; name it in filterFields instead.',
      'Shop.searchFields[3]: "secret" is write-only, and would leak through a query. Take it out.',
      'Shop.searchFields[4]: "items" is not a text. A search looks into texts; name it in filterFields instead.',
      'Shop.searchFields[6]: "owner.nmae" leads to no readable field of Owner. Did you mean "owner.name"?',
    ]);
  });

  test('in orderingFields and ordering lead to values that have an order', async () => {
    declareUnchecked(Shop, {
      app: 'market',
      writeOnly: ['secret'],
      orderingFields: ['pirce', 'data', '-price', 'secret', 'items', 'owner', 'owner.name'],
      ordering: ['-pirce', 'items', '-data', 'hidden', 'owner', '-owner.nmae'],
    });
    const unordered = 'the values of "data" have no order. Order by a number, a text, a date or a relation.';
    expect(await problemsOf({ entities: ENTITIES })).toEqual([
      'Shop.orderingFields[0]: "pirce" is not a readable field of Shop. Did you mean "price"?',
      `Shop.orderingFields[1]: ${unordered}`,
      'Shop.orderingFields[2]: "-price" is not a readable field of Shop. Did you mean "price"?',
      'Shop.orderingFields[3]: "secret" is write-only, and would leak through a query. Take it out.',
      `Shop.orderingFields[4]: "items" leads to many objects. ${MANY}`,
      'Shop.ordering[0]: "pirce" is not a readable field of Shop. Did you mean "price"?',
      `Shop.ordering[1]: "items" leads to many objects. ${MANY}`,
      `Shop.ordering[2]: ${unordered}`,
      'Shop.ordering[5]: "owner.nmae" leads to no readable field of Owner. Did you mean "owner.name"?',
    ]);
  });
});

onEachDatabase('what only some databases have', (database) => {
  @Restify({ app: 'desk', searchFields: ['name', '$name', '@name'] })
  @Entity()
  class Lookup {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    name: string;
  }

  test('is refused in searchFields where this one has it not', async () => {
    if (database.name === 'mariadb') {
      expect(await problemsOf({ entities: [Lookup], database })).toEqual([
        'Lookup.searchFields[2]: "name" has no full-text index of its own. Put @Index({ fulltext: true }) on the property, or leave "@" out.',
      ]);
      return;
    }
    if (database.name === 'postgres') {
      const started = await startApp({ entities: [Lookup], database });
      const { client } = started;
      expect([
        (await client.get('/rest/v1/desk/lookup/')).status,
        (await client.get('/rest/v1/desk/lookup/')).json,
      ]).toEqual([200, []]);
      await started.close();
      return;
    }
    expect(await problemsOf({ entities: [Lookup], database })).toEqual([
      'Lookup.searchFields[1]: "$" is a search by regular expressions, which this database does not have. Leave "$" out, or use "^" or "=".',
      'Lookup.searchFields[2]: "@" is full-text search, which SQLite has only with an FTS5 table. Name the table: fullText: { table: \'article_text\' }, or use no prefix, "^" or "=".',
    ]);
  });

  test('is refused as a column that JSON has no form for, and may be left out', async () => {
    const type = database.name === 'sqlite' ? 'text' : 'point';
    @Restify('desk')
    @Entity()
    class Spot {
      @PrimaryGeneratedColumn()
      id: number;

      @Column({ type, nullable: true })
      position: string;
    }
    if (database.name !== 'sqlite') {
      expect(await problemsOf({ entities: [Spot], database })).toEqual([
        `Spot.position: its column type "point" has no form in JSON. Leave it out: exclude: ['position'].`,
      ]);
    }
    restify(Spot, { app: 'desk', exclude: ['position'] });
    const started = await startApp({ entities: [Spot], database });
    const { client } = started;
    const created = await client.post('/rest/v1/desk/spot/', {});
    await started.close();
    expect([created.status, created.json]).toEqual([201, { id: 1 }]);
  });
});

describe('an entity that cannot be served', () => {
  @Restify('desk')
  @Entity()
  @TableInheritance({ column: { type: 'varchar', name: 'kind' } })
  class Vehicle {
    @PrimaryGeneratedColumn()
    id: number;
  }

  @Restify('desk')
  @ChildEntity("driver's")
  class Bus extends Vehicle {
    @Column({ nullable: true })
    seats: number;
  }

  @Restify('desk')
  @Entity()
  @Tree('nested-set')
  class Branch {
    @PrimaryGeneratedColumn()
    id: number;

    @TreeParent({ onDelete: 'SET NULL' })
    parent: Relation<Branch>;

    @TreeChildren()
    children: Relation<Branch[]>;
  }

  @Restify('desk')
  @Entity()
  @Tree('materialized-path')
  class Label {
    @PrimaryColumn()
    word: string;

    @TreeParent()
    parent: Relation<Label>;

    @TreeChildren()
    children: Relation<Label[]>;
  }

  @Restify('desk')
  @Entity()
  @Tree('nested-set')
  class Post {
    @PrimaryColumn()
    year: number;

    @PrimaryColumn()
    no: number;

    @TreeParent()
    parent: Relation<Post>;

    @TreeChildren()
    children: Relation<Post[]>;
  }

  test('refuses with what it is', async () => {
    const repair =
      "Make it an adjacency list, serve it for reading (operations: ['list', 'retrieve']), or leave the entity out: do not register it.";
    expect(await problemsOf({ entities: [Vehicle, Bus, Branch, Label, Post] })).toEqual([
      `Vehicle: its discriminator value "driver's" has signs other than letters, digits, blanks and "_$.:/-". Give @ChildEntity or @DiscriminatorValue another one, or leave the entity out: do not register it.`,
      `Bus: its discriminator value "driver's" has signs other than letters, digits, blanks and "_$.:/-". Give @ChildEntity or @DiscriminatorValue another one, or leave the entity out: do not register it.`,
      `Branch: a nested-set tree whose children outlive their parent (onDelete: 'SET NULL') is not supported. ${repair}`,
      `Label: a materialized-path tree with text keys, in which "." and "%" would be read as parts of a path, is not supported. ${repair}`,
      `Post: a nested-set tree with a composite key is not supported. ${repair}`,
    ]);
  });
});

describe('a type of a field', () => {
  @Entity()
  class Parcel {
    @PrimaryColumn('bigint', { transformer: { to: (id: number) => id, from: Number } })
    id: number;

    @Column('text', { nullable: true, transformer: { to: String, from: Number } })
    weight: number | null;
  }

  test('is one that there is, and not of a key', async () => {
    declareUnchecked(Parcel, { app: 'parcel', type: { id: 'number', weight: ['number'], height: 'number' } });
    expect(await problemsOf({ entities: [Parcel] })).toEqual([
      'Parcel.type.id: its column is part of a key, whose values are shown as they are stored. Take it out.',
      expect.stringContaining('Parcel.type.weight: ["number"] is not a type.'),
      'Parcel.type.height: "height" is not a column of Parcel. Did you mean "weight"?',
    ]);
    declareUnchecked(Parcel, { app: 'parcel', type: 'number' });
    expect(await problemsOf({ entities: [Parcel] })).toEqual([
      'Parcel.type: "number" is not an object. Write an object, such as { name: value }.',
    ]);
  });
});

describe('an array that TypeORM does not write', () => {
  @Entity()
  class Shelf {
    @PrimaryGeneratedColumn()
    id: number;

    @Column('int', { array: true })
    sizes: number[];

    @Column('simple-array', { array: true, nullable: true })
    words: string[];
  }

  const repair = (name: string): string =>
    `Write @Column('simple-array') or @Column('simple-json') without array: true, or leave it out: exclude: ['${name}'].`;

  test('is refused, unless it is left out', async () => {
    restify(Shelf, 'shelf');
    expect(await problemsOf({ entities: [Shelf] })).toEqual([
      `Shelf.sizes: TypeORM cannot write arrays of the type "int" to this database. ${repair('sizes')}`,
      `Shelf.words: TypeORM cannot write arrays of the type "simple-array" to this database. ${repair('words')}`,
    ]);
  });
});

describe('a column with the name of a parameter', () => {
  @Entity()
  class Saved {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    search: string;

    @Column()
    ordering: string;
  }

  @Injectable()
  class Drafts implements FilterBackend {
    filter(): FilterResult {
      return {};
    }

    parameters(): readonly string[] {
      return ['draft'];
    }
  }

  @Restify({ app: 'desk', filterBackends: [Drafts], filterFields: [] })
  @Entity()
  class Sheet {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    draft: boolean;
  }

  test('is an ordinary field, and the parameter keeps its meaning', async () => {
    restify(Saved, { app: 'desk' });
    const started = await startApp({ entities: [Saved, Sheet] });
    const { client } = started;
    const url = '/rest/v1/desk/saved/';
    for (const [search, ordering] of [
      ['a', 'z'],
      ['b', 'y'],
      ['ab', 'id'],
    ])
      expect((await client.post(url, { search, ordering })).status).toBe(201);
    const ids = async (query: string): Promise<number[]> =>
      ((await client.get(`${url}?${query}`)).json as { id: number }[]).map(({ id }) => id);
    expect([
      await ids('search=b'),
      await ids('search__exact=b'),
      await ids('ordering=-search'),
      await ids('ordering=ordering'),
      await ids('ordering__exact=z&search=a'),
    ]).toEqual([[2, 3], [2], [2, 3, 1], [3, 2, 1], [1]]);
    expect((await client.get('/rest/v1/desk/sheet/?draft=1')).json).toEqual([]);
    const { paths } = resolveParameters(
      started.app
        .get(RestifyOpenApi)
        .extend({ openapi: '3.1.0', info: { title: 'Desk', version: '1' }, paths: {} }),
    );
    const { get } = (paths as Record<string, unknown>)['/rest/v1/desk/saved'] as {
      get: { parameters: { name: string }[] };
    };
    expect(get.parameters.map(({ name }) => name)).toEqual([
      'id',
      'search__exact',
      'ordering__exact',
      'search',
      'ordering',
    ]);
    await started.close();
  });

  test('starts where no backend reads that parameter, or where the field is never shown', async () => {
    restify(Saved, { app: 'desk', filterBackends: [FieldFilter, OrderingFilter], writeOnly: ['ordering'] });
    const started = await startApp({ entities: [Saved] });
    const { client } = started;
    await client.post('/rest/v1/desk/saved/', { search: 'a', ordering: 'x' });
    await client.post('/rest/v1/desk/saved/', { search: 'b', ordering: 'x' });
    const found = await client.get('/rest/v1/desk/saved/?search=b');
    await started.close();
    expect([found.status, found.json]).toEqual([200, [{ id: 2, search: 'b' }]]);
  });
});

describe('a class that the application lists', () => {
  @Restify('desk')
  class NoEntity {}

  @Entity()
  class Undeclared {
    @PrimaryGeneratedColumn()
    id: number;
  }

  @Restify()
  @Entity()
  class ForgottenInDataSource {
    @PrimaryGeneratedColumn()
    id: number;
  }

  test('is an entity of the data source, and declared where it is given a label', async () => {
    const lines = await problemsOf({
      entities: [NoEntity, Undeclared],
      imports: [RestifyModule.forFeature('desk', [Undeclared, ForgottenInDataSource])],
    });
    expect(lines).toEqual([
      "NoEntity: it is decorated with @Restify and listed in the entities of the data source, and the data source knows no such entity. Put @Entity() on NoEntity and add it to the data source's entities, or take @Restify off.",
      "RestifyModule.forFeature('desk'): Undeclared has no declaration. Decorate it with @Restify(), or call restify(Undeclared).",
      "ForgottenInDataSource: it is decorated with @Restify and listed in RestifyModule.forFeature('desk'), and the data source knows no such entity. Put @Entity() on ForgottenInDataSource and add it to the data source's entities, or take @Restify off.",
    ]);
  });
});

describe('a relation out of the data source', () => {
  @Entity()
  class Absent {
    @PrimaryGeneratedColumn()
    id: number;
  }

  @Restify('desk')
  @Entity()
  class Referring {
    @PrimaryGeneratedColumn()
    id: number;

    @ManyToOne(() => Absent)
    absent: Relation<Absent>;

    @ManyToOne(() => undefined as unknown as typeof Absent)
    nothing: Relation<Absent>;
  }

  // The retries of the connection log their errors, which must not be those of the next file of tests.
  afterAll(() => new Promise((resolve) => setTimeout(resolve, 300)));

  test('is reported with its repair, instead of by TypeORM', async () => {
    const orm = TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: [Referring],
      retryAttempts: 2,
      retryDelay: 50,
    });
    const error: unknown = await startModules({ imports: [orm, RestifyModule.forRoot('rest/v1')] }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(DeclarationError);
    expect(linesOf(error as DeclarationError)).toEqual([
      "Referring.absent: it leads to Absent, which the data source does not know. Add Absent to the data source's entities, or to TypeOrmModule.forFeature([Absent]) with autoLoadEntities.",
      'Referring.nothing: its target is undefined. Look for files that import each other in a circle, and type the property as Relation<…>.',
    ]);
  });
});

describe('declarations by restify()', () => {
  interface Account {
    id: number;
    email: string;
    password: string;
    notes: Relation<Note[]>;
  }
  interface Note {
    id: number;
    text: string;
    account: Relation<Account>;
  }
  const AccountSchema = new EntitySchema<Account>({
    name: 'Account',
    columns: {
      id: { type: Number, primary: true, generated: true },
      email: { type: String },
      password: { type: String },
    },
    relations: { notes: { type: 'one-to-many', target: 'Note', inverseSide: 'account' } },
  });
  const NoteSchema = new EntitySchema<Note>({
    name: 'Note',
    columns: { id: { type: Number, primary: true, generated: true }, text: { type: String } },
    relations: { account: { type: 'many-to-one', target: 'Account', inverseSide: 'notes' } },
  });

  @Entity()
  class FromElsewhere {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    title: string;

    shout(): string {
      return this.title.toUpperCase();
    }
  }

  test('name the fields of an EntitySchema in their errors', async () => {
    declareUnchecked(AccountSchema, { app: 'accounts', exclude: ['pasword'], computed: { loud: 'shout' } });
    restify(NoteSchema);
    expect(await problemsOf({ entities: [AccountSchema, NoteSchema] })).toEqual([
      "Note: it has no app label. Write @Restify('blog'), or RestifyModule.forFeature('blog', [Note]) in a module.",
      'Account.exclude[0]: "pasword" is not a field of Account. Did you mean "password"?',
      'Account.computed.loud: "shout" is not a method of Account. Write a function of the entity.',
    ]);
  });

  test('serve schemas, with labels of their own or of a module, and classes from elsewhere; the last one counts', async () => {
    declareUnchecked(AccountSchema, { app: 'accounts', exclude: ['password'] });
    restify(NoteSchema);
    restify(FromElsewhere, 'wrong');
    restify(FromElsewhere, { app: 'desk', name: 'elsewhere', computed: { loud: 'shout' } });
    const started = await startApp({
      entities: [AccountSchema, NoteSchema, FromElsewhere],
      imports: [RestifyModule.forFeature('notes', [NoteSchema])],
    });
    const { client, dataSource } = started;
    await dataSource.getRepository(AccountSchema).save({ email: 'ada@example.org', password: 'secret' });
    const answers = [
      await client.get('/rest/v1/accounts/account/'),
      await client.post('/rest/v1/notes/note/', { text: 'hello', account: 1 }),
      await client.get('/rest/v1/accounts/account/1/notes/'),
      await client.post('/rest/v1/desk/elsewhere/', { title: 'quiet' }),
      await client.get('/'),
    ];
    await started.close();
    expect(answers.map(({ status, json }) => [status, json])).toEqual([
      [200, [{ id: 1, email: 'ada@example.org', notes: '/rest/v1/accounts/account/1/notes/' }]],
      [201, { id: 1, text: 'hello', account: 1 }],
      [200, [{ id: 1, text: 'hello', account: 1 }]],
      [201, { id: 1, title: 'quiet', loud: 'QUIET' }],
      [
        200,
        Object.fromEntries(
          ['accounts/account', 'notes/note', 'desk/elsewhere'].map((path) => [
            `rest/v1/${path}`,
            expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/rest/v1/${path}/$`)),
          ]),
        ),
      ],
    ]);
  });
});

describe('every option at once', () => {
  @Injectable()
  class Exclaiming extends ModelSerializer {
    override represent(row: Row, context: RepresentContext): Representation {
      const body = super.represent(row, context);
      return { ...body, title: `${String(body.title)}!` };
    }
  }

  @Restify({
    app: 'desk',
    name: 'entry',
    fields: ['id', 'title', 'votes', 'secret', 'created_by'],
    exclude: ['votes'],
    readOnly: ['created_by'],
    writeOnly: ['secret'],
    optional: ['secret'],
    trim: { title: false },
    computed: { loud: 'shout', length: (entry: Entry) => entry.title.length },
    operations: ['list', 'create', 'retrieve'],
    filterBackends: [FieldFilter, OrderingFilter],
    filterFields: { title: ['startswith'] },
    searchFields: ['^title'],
    orderingFields: ['title'],
    ordering: ['-votes', 'title'],
    strict: true,
    serializer: Exclaiming,
  })
  @Entity()
  class Entry {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    title: string;

    @Column({ default: 0 })
    votes: number;

    @Column({ default: '' })
    secret: string;

    @Column({ default: 'nobody' })
    created_by: string;

    @Column({ default: '' })
    left_out: string;

    shout(): string {
      return this.title.toUpperCase();
    }
  }

  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Entry] });
  });
  afterAll(() => started.close());

  test('starts, and holds', async () => {
    const { client, dataSource } = started;
    const created = await client.post('/rest/v1/desk/entry/', { title: ' b ', secret: 's' });
    expect([created.status, created.json]).toEqual([
      201,
      { id: 1, title: ' b !', created_by: 'nobody', loud: ' B ', length: 3 },
    ]);
    await dataSource.getRepository(Entry).save([
      { title: 'a', votes: 0 },
      { title: 'c', votes: 5 },
    ]);
    const ids = async (path: string): Promise<unknown> =>
      ((await client.get(path)).json as { id: number }[]).map(({ id }) => id);
    expect(await ids('/rest/v1/desk/entry/')).toEqual([3, 1, 2]);
    expect(await ids('/rest/v1/desk/entry/?ordering=-title')).toEqual([3, 2, 1]);
    expect(await ids('/rest/v1/desk/entry/?title__startswith=c')).toEqual([3]);
    const refused = await client.get('/rest/v1/desk/entry/?title=c&search=c&votes=5');
    expect([refused.status, refused.json]).toEqual([
      400,
      { title: ['Unknown parameter.'], search: ['Unknown parameter.'], votes: ['Unknown parameter.'] },
    ]);
    const unknown = await client.post('/rest/v1/desk/entry/', { title: 'd', votes: 1 });
    expect([unknown.status, unknown.json]).toEqual([400, { votes: ['Unknown field.'] }]);
    const deleted = await client.delete('/rest/v1/desk/entry/1/');
    expect([deleted.status, deleted.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('a class that Nest must make', () => {
  class Unprovided {
    readonly there = true;
  }

  @Injectable()
  class NeedsUnprovided implements FilterBackend {
    constructor(readonly unprovided: Unprovided) {}

    filter(): FilterResult {
      return {};
    }
  }

  @Restify({ app: 'desk', filterBackends: [NeedsUnprovided] })
  @Entity()
  class Filtered {
    @PrimaryGeneratedColumn()
    id: number;
  }

  test('refuses to start where it cannot be made, and names what is missing', async () => {
    await expect(startApp({ entities: [Filtered] })).rejects.toThrow(/NeedsUnprovided.*Unprovided/s);
  });

  test('is made with the providers of the application', async () => {
    const started = await startApp({ entities: [Filtered], providers: [Unprovided, NeedsUnprovided] });
    const { client } = started;
    const listed = await client.get('/rest/v1/desk/filtered/');
    await started.close();
    expect([listed.status, listed.json]).toEqual([200, []]);
  });
});

describe('a bad declaration in one application', () => {
  abstract class Kept {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    title: string;
  }

  @Restify('first')
  @Entity()
  class FirstThing extends Kept {}

  @Restify('second')
  @Entity()
  class SecondThing extends Kept {}

  @Entity()
  class WrongThing extends Kept {}
  declareUnchecked(WrongThing, { app: 'third', fields: ['titel'] });

  test('does not disturb applications that boot beside it and after it', async () => {
    const [first, wrong, second] = await Promise.allSettled([
      startApp({ entities: [FirstThing], prefix: 'one' }),
      startApp({ entities: [WrongThing], prefix: 'two' }),
      startApp({ entities: [SecondThing], prefix: 'three' }),
    ]);
    const third = await startApp({ entities: [SecondThing], prefix: 'four' });
    if (first.status === 'rejected' || second.status === 'rejected')
      throw new Error('A good application did not start.');
    expect(wrong.status).toBe('rejected');
    expect(
      wrong.status === 'rejected' && wrong.reason instanceof DeclarationError && linesOf(wrong.reason),
    ).toEqual(['WrongThing.fields[0]: "titel" is not a field of WrongThing. Did you mean "title"?']);
    const [one, three, four] = [first.value, second.value, third];
    const answers = [
      await one.client.post('/one/first/firstthing/', { title: 'a' }),
      await one.client.get('/'),
      await one.client.get('/one/second/secondthing/'),
      await one.client.get('/one/third/wrongthing/'),
      await one.client.get('/three/second/secondthing/'),
      await three.client.get('/three/second/secondthing/'),
      await three.client.get('/'),
      await four.client.get('/four/second/secondthing/'),
      await four.client.get('/three/second/secondthing/'),
    ];
    for (const each of [one, three, four]) await each.close();
    expect(answers.map(({ status, json }) => [status, json])).toEqual([
      [201, { id: 1, title: 'a' }],
      [200, { 'one/first/firstthing': `http://127.0.0.1:${one.port}/one/first/firstthing/` }],
      [404, { detail: 'Not found.' }],
      [404, { detail: 'Not found.' }],
      [404, { message: 'Cannot GET /three/second/secondthing/', error: 'Not Found', statusCode: 404 }],
      [200, []],
      [200, { 'three/second/secondthing': `http://127.0.0.1:${three.port}/three/second/secondthing/` }],
      [200, []],
      [404, { message: 'Cannot GET /three/second/secondthing/', error: 'Not Found', statusCode: 404 }],
    ]);
  });
});
