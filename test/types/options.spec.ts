// @tags core
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { WORLD } from '../support/world.js';

/** Options of one call, as an author writes them: `right` compiles, and `wrong` differs from it in one name only. */
interface Case {
  readonly says: string;
  readonly right: string;
  readonly wrong: string;
}

const CASES: readonly Case[] = [
  { says: 'a column in fields', right: "fields: ['title']", wrong: "fields: ['titel']" },
  { says: 'a relation in fields', right: "fields: ['question']", wrong: "fields: ['quesiton']" },
  {
    says: 'a method in fields, which is no property',
    right: "fields: ['votes']",
    wrong: "fields: ['shout']",
  },
  { says: 'a column in exclude', right: "exclude: ['secret']", wrong: "exclude: ['secrets']" },
  {
    says: 'a path in exclude, which takes properties only',
    right: "exclude: ['address']",
    wrong: "exclude: ['address.city']",
  },
  { says: 'a column in readOnly', right: "readOnly: ['votes']", wrong: "readOnly: ['vote']" },
  { says: 'a column in writeOnly', right: "writeOnly: ['secret']", wrong: "writeOnly: ['sekret']" },
  { says: 'a column in optional', right: "optional: ['title']", wrong: "optional: ['tilte']" },
  { says: 'a column in trim', right: 'trim: { title: false }', wrong: 'trim: { titel: false }' },
  { says: 'a text in trim', right: 'trim: { title: true }', wrong: "trim: { title: 'no' }" },
  {
    says: 'a method in computed',
    right: "computed: { loud: 'shout' }",
    wrong: "computed: { loud: 'shuot' }",
  },
  {
    says: 'a property in computed, which is no method',
    right: "computed: { loud: 'whisper' }",
    wrong: "computed: { loud: 'title' }",
  },
  {
    says: 'a property of the entity in a computed function',
    right: 'computed: { loud: (post: Post) => post.title }',
    wrong: 'computed: { loud: (post: { titel: string }) => post.titel }',
  },
  {
    says: 'an operation',
    right: "operations: ['list', 'partialUpdate']",
    wrong: "operations: ['list', 'patch']",
  },
  {
    says: 'a class as filter backend',
    right: 'filterBackends: [FieldFilter]',
    wrong: 'filterBackends: [Date]',
  },
  { says: 'a class as serializer', right: 'serializer: ModelSerializer', wrong: 'serializer: FieldFilter' },
  {
    says: 'a path into JSON in filterFields',
    right:
      "filterFields: { 'meta.size.of.each': { type: 'number', lookups: ['gte'] } }, orderingFields: ['meta.size.of.each']",
    wrong: "filterFields: { 'meat.size.of.each': { type: 'number', lookups: ['gte'] } }",
  },
  { says: 'a column in filterFields', right: "filterFields: ['votes']", wrong: "filterFields: ['vote']" },
  {
    says: 'a path over a relation in filterFields',
    right: "filterFields: ['question.pub_date']",
    wrong: "filterFields: ['question.pubdate']",
  },
  {
    says: 'a path over a nullable relation',
    right: "filterFields: ['editor.name']",
    wrong: "filterFields: ['editor.nmae']",
  },
  {
    says: 'a path over a Relation<…>',
    right: "filterFields: ['author.name']",
    wrong: "filterFields: ['author.nmae']",
  },
  {
    says: 'a path over a lazy relation',
    right: "filterFields: ['reviewer.name']",
    wrong: "filterFields: ['reviewer.then']",
  },
  {
    says: 'a path over a lazy nullable relation',
    right: "filterFields: ['proofreader.name']",
    wrong: "filterFields: ['proofreader.catch']",
  },
  {
    says: 'a path over an embedded object',
    right: "filterFields: ['address.city']",
    wrong: "filterFields: ['address.town']",
  },
  {
    says: 'a path three steps deep',
    right: "filterFields: ['question.author.name']",
    wrong: "filterFields: ['question.author.nmae']",
  },
  {
    says: 'a step below a plain value',
    right: "filterFields: ['created']",
    wrong: "filterFields: ['created.getTime']",
  },
  { says: 'a step below a text', right: "filterFields: ['title']", wrong: "filterFields: ['title.length']" },
  {
    says: 'a name with lookups',
    right: "filterFields: { votes: ['gte', 'lt'] }",
    wrong: "filterFields: { vote: ['gte', 'lt'] }",
  },
  {
    says: 'a path with lookups',
    right: "filterFields: { 'question.pub_date': ['gte'] }",
    wrong: "filterFields: { 'question.pubdate': ['gte'] }",
  },
  {
    says: 'a lookup',
    right: "filterFields: { votes: ['gte'] }",
    wrong: "filterFields: { votes: ['greater'] }",
  },
  {
    says: 'no order of a flag',
    right: "filterFields: { draft: ['exact', 'isnull', 'ne', 'in'] }",
    wrong: "filterFields: { draft: ['gte'] }",
  },
  {
    says: 'no text lookup of a number',
    right: "filterFields: { votes: ['range'] }",
    wrong: "filterFields: { votes: ['icontains'] }",
  },
  {
    says: 'no text lookup of a date',
    right: "filterFields: { created: ['gte', 'isnull'] }",
    wrong: "filterFields: { created: ['startswith'] }",
  },
  {
    says: 'no text lookup of a relation',
    right: "filterFields: { author: ['exact', 'in'] }",
    wrong: "filterFields: { author: ['contains'] }",
  },
  {
    says: 'the lookups of a path',
    right: "filterFields: { 'author.name': ['icontains', 'gt'] }",
    wrong: "filterFields: { 'question.pub_date': ['icontains'] }",
  },
  {
    says: 'the value of an own filter',
    right:
      "filters: { near: { type: 'integer', reads: ['votes'], rows: (votes) => where('votes', votes + 1) } }",
    wrong:
      "filters: { near: { type: 'text', reads: ['votes'], rows: (votes: number) => where('votes', votes) } }",
  },
  {
    says: 'the list of an own filter',
    right:
      "filters: { near: { type: 'integer', list: true, reads: ['votes'], rows: (votes) => where('votes', 'in', votes.map((each) => each + 1)) } }",
    wrong:
      "filters: { near: { type: 'integer', list: true, reads: ['votes'], rows: (votes: number) => where('votes', votes) } }",
  },
  {
    says: 'a choice of an own filter',
    right:
      "filters: { state: { type: 'choice', choices: ['a', 'b'], reads: ['votes', 'author.name'], rows: (state) => where('author.name', state.trim()) } }",
    wrong:
      "filters: { state: { type: 'choice', choices: [7], reads: ['votes'], rows: (state) => where('votes', state) } }",
  },
  {
    says: 'what an own filter reads',
    right: "filters: { near: { type: 'integer', reads: ['votes'], rows: () => where('votes', 1) } }",
    wrong: "filters: { near: { type: 'integer', reads: ['vote'], rows: () => where('votes', 1) } }",
  },
  { says: 'groups as a flag', right: 'filterGroups: true', wrong: "filterGroups: 'yes'" },
  {
    says: 'the limits of queries',
    right: 'queryLimits: { values: 10 }',
    wrong: 'queryLimits: { value: 10 }',
  },
  {
    says: 'where nulls stand in ordering',
    right: "ordering: ['-votes nulls last', 'title nulls first']",
    wrong: "ordering: ['-votes nulls']",
  },
  {
    says: 'where nulls stand in orderingFields',
    right: "orderingFields: ['votes nulls last']",
    wrong: "orderingFields: ['votes nulls lasst']",
  },
  { says: 'a name in searchFields', right: "searchFields: ['title']", wrong: "searchFields: ['titel']" },
  { says: 'a name with ^', right: "searchFields: ['^title']", wrong: "searchFields: ['^titel']" },
  {
    says: 'a name with =, $ and @',
    right: "searchFields: ['=title', '$title', '@title']",
    wrong: "searchFields: ['=title', '$title', '~title']",
  },
  { says: 'a path with ^', right: "searchFields: ['^author.name']", wrong: "searchFields: ['^author.nmae']" },
  { says: 'a name in orderingFields', right: "orderingFields: ['votes']", wrong: "orderingFields: ['vots']" },
  {
    says: 'no minus in orderingFields, which both directions belong to',
    right: "orderingFields: ['votes']",
    wrong: "orderingFields: ['-votes']",
  },
  { says: 'a name in ordering', right: "ordering: ['votes']", wrong: "ordering: ['vots']" },
  {
    says: 'a name with a minus in ordering',
    right: "ordering: ['-votes', 'title']",
    wrong: "ordering: ['-vots', 'title']",
  },
  {
    says: 'a path with a minus in ordering',
    right: "ordering: ['-question.pub_date']",
    wrong: "ordering: ['-question.pubdate']",
  },
  { says: 'no plus in ordering', right: "ordering: ['votes']", wrong: "ordering: ['+votes']" },
  { says: 'no flag but false as pagination', right: 'pagination: false', wrong: 'pagination: true' },
  {
    says: 'a flag or names as shape',
    right: "shape: { fieldsParameter: 'only', maxChildren: 3 }",
    wrong: "shape: { fieldParameter: 'only' }",
  },
  {
    says: 'a relation as expandable',
    right: "expandable: ['author', 'author.posts']",
    wrong: "expandable: ['auhtor.posts']",
  },
  {
    says: 'a known option of conditional requests',
    right: 'conditional: { require: true }',
    wrong: 'conditional: { required: true }',
  },
  { says: 'a flag or options as conditional', right: 'conditional: true', wrong: "conditional: 'yes'" },
  { says: 'a text or false as cacheControl', right: "cacheControl: 'no-store'", wrong: 'cacheControl: true' },
  { says: 'a flag as strict', right: 'strict: true', wrong: "strict: 'yes'" },
  { says: 'a flag as returnDeleted', right: 'returnDeleted: true', wrong: "returnDeleted: 'yes'" },
  { says: 'a text as name', right: "name: 'entry'", wrong: 'name: 7' },
  { says: 'an option', right: "filterFields: ['votes']", wrong: "filterFeilds: ['votes']" },
];

const HERE = dirname(fileURLToPath(import.meta.url));
const MODEL = readFileSync(join(HERE, 'model.fixture.ts'), 'utf8');

/** The fixture with the decorator on its entity, or with a call after it. */
function decorated(options: string): string {
  return MODEL.replace('/* @Restify */', `@Restify({ app: 'blog', ${options} })`);
}

function called(options: string): string {
  return `${MODEL}\nrestify(Post, { app: 'blog', ${options} });\n`;
}

function withSchema(options: string): string {
  return `${MODEL}\nimport { EntitySchema } from 'typeorm';\nconst schema = new EntitySchema<Post>({ name: 'post', columns: {} });\nrestify(schema, { app: 'blog', ${options} });\n`;
}

interface Complaint {
  readonly start: number;
  readonly at: string;
  readonly message: string;
  /** Further messages, which the compiler prints below it. */
  readonly related: readonly string[];
}

/** Sources that stand on no disk, each a file beside the fixture, compiled in one program with the options of the project. */
class Compiled {
  private readonly program: ts.Program;

  constructor(private readonly sources: ReadonlyMap<string, string>) {
    const config = ts.parseJsonConfigFileContent(
      ts.readConfigFile(WORLD.tsconfig, (path) => ts.sys.readFile(path)).config,
      ts.sys,
      dirname(WORLD.tsconfig),
    );
    const options: ts.CompilerOptions = { ...config.options, noEmit: true };
    const host = ts.createCompilerHost(options);
    const onDisk = {
      fileExists: host.fileExists.bind(host),
      readFile: host.readFile.bind(host),
      getSourceFile: host.getSourceFile.bind(host),
    };
    host.fileExists = (path) => sources.has(path) || onDisk.fileExists(path);
    host.readFile = (path) => sources.get(path) ?? onDisk.readFile(path);
    host.getSourceFile = (path, target, ...rest) => {
      const text = sources.get(path);
      return text === undefined
        ? onDisk.getSourceFile(path, target, ...rest)
        : ts.createSourceFile(path, text, target, true);
    };
    this.program = ts.createProgram([...sources.keys()], options, host);
  }

  /** What the compiler says of one source: the text that it points at, and its message. */
  complaints(path: string): readonly Complaint[] {
    const source = this.program.getSourceFile(path);
    const diagnostics = [
      ...this.program.getSyntacticDiagnostics(source),
      ...this.program.getSemanticDiagnostics(source),
    ];
    return diagnostics.map(({ start = 0, length = 0, messageText, relatedInformation = [] }) => ({
      start,
      related: relatedInformation.map((each) => ts.flattenDiagnosticMessageText(each.messageText, '\n')),
      at: (this.sources.get(path) ?? '').slice(start, start + length),
      message: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
  }
}

function at(name: string): string {
  return join(HERE, `${name}.generated.ts`);
}

const WAYS = [
  { way: '@Restify', source: decorated },
  { way: 'restify', source: called },
] as const;

/** Where each of them begins in its source. */
const CALL = { '@Restify': '@Restify({', restify: 'restify(Post, {' } as const;

const OTHERS: Readonly<Record<string, string>> = {
  'no-argument': MODEL.replace('/* @Restify */', '@Restify()'),
  'label-only': MODEL.replace('/* @Restify */', "@Restify('blog')"),
  'label-no-text': MODEL.replace('/* @Restify */', '@Restify(7)'),
  'on-a-property': MODEL.replace('/* on a property */', "@Restify('blog')"),
  'call-without-options': `${MODEL}\nrestify(Post);\nrestify(Post, 'blog');\n`,
  'call-in-a-loop': `${MODEL}\nimport { EntitySchema } from 'typeorm';\nclass Author { id: number; name: string }\nconst schema = new EntitySchema<Author>({ name: 'author', columns: {} });\nfor (const each of [Post, Author, schema]) restify(each, 'blog');\n`,
  'call-on-an-instance': `${MODEL}\nrestify(new Post(), 'blog');\n`,
  'schema-right': withSchema("fields: ['title'], filterFields: ['votes'], ordering: ['-votes']"),
  'schema-fields': withSchema("fields: ['titel']"),
  'schema-filter': withSchema("filterFields: ['vote']"),
  'schema-ordering': withSchema("ordering: ['-vote']"),
  'schema-option': withSchema("filterFeilds: ['votes']"),
  elsewhere: `${MODEL}\ndeclare const Elsewhere: abstract new (secret: symbol) => { id: number; label: string };\nrestify(Elsewhere, { app: 'blog', exclude: ['label'] });\n`,
  'elsewhere-wrong': `${MODEL}\ndeclare const Elsewhere: abstract new (secret: symbol) => { id: number; label: string };\nrestify(Elsewhere, { app: 'blog', exclude: ['lable'] });\n`,
  'unknown-options': MODEL.replace('/* @Restify */', "@Restify({ app: 'blog', foo: 1, bar: [], baz: 'x' })"),
  'where-right': `${MODEL}\nwhere<Post>('author.name', 'x');\nwhere<Post>('votes', 'gte', 3);\nwhere<Post>('question.author.name', null);\nwhere('anything', 1);\nwhere('anything', 'in', [1]);\n`,
  'where-wrong': `${MODEL}\nwhere<Post>('ownr', 1);\nwhere<Post>('author.nmae', 'exact', 'x');\n`,
  'cursor-pagination': `import { CursorPagination } from 'nestjs-restify';\nnew CursorPagination();\nnew CursorPagination({});\n`,
  'module-right': `import { FieldFilter, RestifyModule } from 'nestjs-restify';\nRestifyModule.forRoot('rest/v1', { index: 'start', strict: true, filterBackends: [FieldFilter], dataSource: 'other' });\nRestifyModule.forRoot('rest/v2', { index: false });\n`,
  'module-unknown': `import { RestifyModule } from 'nestjs-restify';\nRestifyModule.forRoot('rest/v1', { indx: false });\n`,
  'module-index': `import { RestifyModule } from 'nestjs-restify';\nRestifyModule.forRoot('rest/v1', { index: true });\n`,
  'module-async': `import { RestifyModule } from 'nestjs-restify';\nRestifyModule.forRootAsync({ useFactory: () => ({ dataSource: 'other', prefix: 'rest/v1', strict: 'yes' }) });\n`,
};

let compiled: Compiled;

beforeAll(() => {
  const sources = new Map<string, string>();
  for (const { way, source } of WAYS) {
    for (const [index, { right, wrong }] of CASES.entries()) {
      sources.set(at(`${way}-${index}-right`), source(right));
      sources.set(at(`${way}-${index}-wrong`), source(wrong));
    }
  }
  for (const [name, source] of Object.entries(OTHERS)) sources.set(at(name), source);
  compiled = new Compiled(sources);
});

describe.each(WAYS)('options of $way', ({ way, source }) => {
  test.each(CASES.map((each, index) => ({ ...each, index })))(
    'reject $says: $wrong does not compile',
    ({ wrong, index }) => {
      expect(compiled.complaints(at(`${way}-${index}-right`))).toEqual([]);
      const complaints = compiled.complaints(at(`${way}-${index}-wrong`));
      expect(complaints).toHaveLength(1);
      // It points into the call, and at nothing else in the source.
      const text = source(wrong);
      const start = text.indexOf(CALL[way]);
      expect(complaints[0]?.start).toBeGreaterThanOrEqual(start);
      expect(complaints[0]?.start).toBeLessThan(text.indexOf(wrong) + wrong.length);
    },
  );
});

/** What the compiler says at the end of its message, which is what is wrong. */
function lastLine(text: string | undefined): string {
  return text?.split('\n').at(-1)?.trim() ?? '';
}

describe('the message about a mistake in @Restify', () => {
  test.each([
    ["filterFeilds: ['votes']", `'"@Restify has no option \\"filterFeilds\\""'`],
    ["fields: ['titel']", `'"@Restify: \\"titel\\" in fields is not a field of the entity"'`],
    [
      "filterFields: ['author.nmae']",
      `'"@Restify: \\"author.nmae\\" in filterFields is not a field of the entity"'`,
    ],
    [
      "filterFields: { vote: ['gte', 'lt'] }",
      `'"@Restify: \\"vote\\" in filterFields is not a field of the entity"'`,
    ],
    ["ordering: ['-vots', 'title']", `'"@Restify: \\"-vots\\" in ordering is not a field of the entity"'`],
    [
      "expandable: ['auhtor.posts']",
      `'"@Restify: \\"auhtor.posts\\" in expandable is not a relation of the entity"'`,
    ],
    [
      "filterFields: { votes: ['icontains'] }",
      `'"@Restify: the values of filterFields do not fit the entity"'`,
    ],
  ])('%s names the option and what is wrong', (wrong, message) => {
    const index = CASES.findIndex((each) => each.wrong === wrong);
    const [complaint] = compiled.complaints(at(`@Restify-${index}-wrong`));
    expect(lastLine(complaint?.message)).toMatch(new RegExp(`^Type '.+' is not assignable to type `));
    expect(lastLine(complaint?.message)).toContain(message);
  });

  test('is reported at an unknown option itself, whatever its value', () => {
    expect(
      compiled
        .complaints(at('unknown-options'))
        .map(({ at: place, message }) => [place, /@Restify has no option \\"\w+\\"/.exec(message)?.[0]]),
    ).toEqual(['foo', 'bar', 'baz'].map((name) => [name, `@Restify has no option \\"${name}\\"`]));
  });
});

describe('where', () => {
  test('with an entity takes its paths', () => {
    expect(compiled.complaints(at('where-right'))).toEqual([]);
  });

  test('with an entity does not compile with another path', () => {
    expect(compiled.complaints(at('where-wrong')).map((each) => [each.at, each.message])).toEqual([
      ["'ownr'", `Argument of type '"ownr"' is not assignable to parameter of type 'PathOf<Post>'.`],
      [
        "'author.nmae'",
        `Argument of type '"author.nmae"' is not assignable to parameter of type 'PathOf<Post>'.`,
      ],
    ]);
  });
});

describe('new CursorPagination', () => {
  test('without a secret does not compile, and the message names it', () => {
    const [none, empty] = compiled.complaints(at('cursor-pagination'));
    expect([none?.message, none?.related]).toEqual([
      'Expected 1 arguments, but got 0.',
      ["An argument for 'secretAndOptions' was not provided."],
    ]);
    expect(empty?.message).toContain("Property 'secret' is missing");
  });
});

describe('the ways to declare', () => {
  test('take nothing, a label, or options, on classes of all kinds', () => {
    for (const name of ['no-argument', 'label-only', 'call-without-options', 'call-in-a-loop', 'elsewhere'])
      expect([name, compiled.complaints(at(name))]).toEqual([name, []]);
  });

  test('take nothing else', () => {
    for (const name of ['label-no-text', 'on-a-property', 'call-on-an-instance', 'elsewhere-wrong'])
      expect([name, compiled.complaints(at(name)).length]).toEqual([name, 1]);
  });
});

describe('options of restify for an EntitySchema', () => {
  test('compile where they name what the entity has', () => {
    expect(compiled.complaints(at('schema-right'))).toEqual([]);
  });

  test.each([['schema-fields'], ['schema-filter'], ['schema-ordering'], ['schema-option']])(
    'do not compile with an unknown name (%s)',
    (name) => {
      expect(compiled.complaints(at(name))).toHaveLength(1);
    },
  );
});

describe('options of RestifyModule', () => {
  test('compile where they are right', () => {
    expect(compiled.complaints(at('module-right'))).toEqual([]);
  });

  test.each([
    ['an unknown name', 'module-unknown', 'indx'],
    ['true as index', 'module-index', 'index'],
    ['a wrong value from a factory', 'module-async', 'strict'],
  ])('do not compile with %s', (_, name, place) => {
    expect(compiled.complaints(at(name)).map((each) => each.at)).toEqual([place]);
  });
});
