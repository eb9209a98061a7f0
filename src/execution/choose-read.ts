import type { JsonObstacle } from '../sql/json-object-sql.js';

/** How rows are read: the database writes their JSON, or they are read as values, or also as entities of the ORM. */
export type ReadLane = 'json' | 'rows' | 'entities';

export interface ReadChoice {
  readonly lane: ReadLane;
  /** A sentence that names what is responsible. */
  readonly reason: string;
}

/** Why a lane is chosen. */
interface Cause {
  readonly lane: ReadLane;
  /** A noun phrase, for the table of docs/reference/performance.md. */
  readonly what: string;
  readonly because: (name: string) => string;
}

/** What a request asks for. The first one that applies decides. */
const REQUEST_CAUSES = {
  value: {
    lane: 'rows',
    what: '`interceptors` on a model, a method of the application that replaces a read, `RestifyResources`',
    because: (name) => `${name} needs the values.`,
  },
  format: {
    lane: 'rows',
    what: 'another format than JSON; of a list without pagination, where the database may write it, the objects of its JSON',
    because: (name) => `The format ${name} is made of values.`,
  },
  expanded: {
    lane: 'rows',
    what: '`expand` or labels in the query',
    because: (name) => `The parameter ${name} adds values of other rows.`,
  },
  serialized: {
    lane: 'rows',
    what: 'a `serializer` of your own',
    because: (name) => `The serializer ${name} runs for each row.`,
  },
} as const satisfies Readonly<Record<string, Cause>>;

/** Code of the application that takes part in the values of each row. */
const ENTITY_CAUSES = {
  computed: {
    lane: 'entities',
    what: 'a readable computed field',
    because: (name) => `The computed field ${name} is made of the entity.`,
  },
  'after-load': {
    lane: 'entities',
    what: 'an `@AfterLoad` method',
    because: (name) => `The listener ${name} runs after each entity is loaded.`,
  },
  transformer: {
    lane: 'entities',
    what: 'a `transformer` on a column',
    because: (name) => `The transformer of the column ${name} changes its values.`,
  },
} as const satisfies Readonly<Record<string, Cause>>;

/** What the database cannot write as the process would. */
const JSON_CAUSES = {
  database: {
    lane: 'rows',
    what: 'MariaDB, MySQL',
    because: (name) => `No statement writes the JSON of rows on ${name}.`,
  },
  'virtual-column': {
    lane: 'rows',
    what: 'on SQLite, a column computed on reading (`asExpression` without `STORED`, `@VirtualColumn`), or a view over a table with one',
    because: (name) => `Computed columns of the table ${name} may have SQLite's JSON subtype.`,
  },
  'column-type': {
    lane: 'rows',
    what: 'floats, times, intervals, arrays, binary values or enums of numbers in the response; on SQLite also decimals and `jsonb`; on PostgreSQL also a `timestamp` without a time zone unless the process runs in UTC',
    because: (name) => `The database cannot write the JSON of the field ${name}.`,
  },
  'related-key': {
    lane: 'rows',
    what: 'a composite related key in the response, or one that is not the foreign key',
    because: (name) => `The related key of the field ${name} is not one column of the row.`,
  },
  'one-to-one': {
    lane: 'rows',
    what: 'a one-to-one without `@JoinColumn` in the response',
    because: (name) => `The value of the field ${name} comes from another row.`,
  },
  link: {
    lane: 'rows',
    what: 'a link to related objects in the response of a model whose key is neither one integer nor one UUID',
    because: (name) => `The database cannot write the key of the row in the link ${name}.`,
  },
  'made-value': {
    lane: 'rows',
    what: 'labels, or related keys of a many-to-many, in the response',
    because: (name) => `The value of the field ${name} is made by the process.`,
  },
  'field-name': {
    lane: 'rows',
    what: 'a field whose name has other characters than ASCII letters, digits and `_`',
    because: (name) => `The name of the field ${name} would have to be escaped.`,
  },
  'number-of-fields': {
    lane: 'rows',
    what: 'more than 60 fields in the response',
    because: (name) => `The response has too many fields: ${name}.`,
  },
} as const satisfies Readonly<Record<JsonObstacle['kind'], Cause>>;

/** What is known once the application runs, and asked for each read. This list is closed. */
const LIVE_CAUSES = {
  subscriber: {
    lane: 'entities',
    what: 'a subscriber with `afterLoad` that listens to the entity, while it is added',
    because: (name) => `The subscriber ${name} sees each entity that is loaded.`,
  },
  values: {
    lane: 'rows',
    what: 'a stored value that has no JSON in the database, such as an infinite date, a large integer on SQLite, or bytes in a text column: for this page, which is read again',
    because: () => 'The database could not write a value of this page.',
  },
  'other-type': {
    lane: 'rows',
    what: 'on PostgreSQL, a column whose type is not the declared one: from the first read that fails',
    because: () => 'A column of the table has another type than its entity declares.',
  },
} as const satisfies Readonly<Record<string, Cause>>;

/** All causes, for the table of docs/reference/performance.md. Those of an entity are asked before those of a request, and of the live ones the subscriber first. */
export const READ_CAUSES: readonly Cause[] = [
  ...Object.values(REQUEST_CAUSES),
  ...Object.values(ENTITY_CAUSES),
  ...Object.values(JSON_CAUSES),
  ...Object.values(LIVE_CAUSES),
];

const JSON_WRITTEN: ReadChoice = { lane: 'json', reason: 'The database can write all fields.' };
const VALUES_READ: ReadChoice = { lane: 'rows', reason: 'The values of the rows are needed.' };

/** What becomes of a row in the response: its stored values, what a serializer makes of them, or these and other rows. */
export type RowForm = 'stored' | 'serialized' | 'expanded';

export interface FormFacts {
  readonly resource: { readonly hasDefaultSerializer: boolean };
  /** The field selection of the request. */
  readonly fieldSelection: { readonly expands: boolean } | undefined;
}

/** Evaluated for each request: a client selects fields and expansions. */
export function chooseForm({ resource, fieldSelection }: FormFacts): RowForm {
  if (fieldSelection?.expands === true) return 'expanded';
  return resource.hasDefaultSerializer ? 'stored' : 'serialized';
}

export interface OutputFacts extends FormFacts {
  /** Whether code of the application gets what is read. */
  readonly needsValue: boolean;
  /** The renderer of another format than JSON. */
  readonly renderer: unknown;
}

/** Who gets what is read, and in which form. */
export interface OutputChoice {
  readonly use: 'value' | 'format' | 'response';
  readonly form: RowForm;
  /** What keeps the read from returning JSON. */
  readonly cause: keyof typeof REQUEST_CAUSES | undefined;
}

const OUTPUTS: Readonly<Record<OutputChoice['use'], Readonly<Record<RowForm, OutputChoice>>>> = {
  value: outputsOf('value', 'value'),
  format: outputsOf('format', 'format'),
  response: {
    stored: { use: 'response', form: 'stored', cause: undefined },
    serialized: { use: 'response', form: 'serialized', cause: 'serialized' },
    expanded: { use: 'response', form: 'expanded', cause: 'expanded' },
  },
};

function outputsOf(
  use: OutputChoice['use'],
  cause: OutputChoice['cause'],
): Readonly<Record<RowForm, OutputChoice>> {
  return {
    stored: { use, form: 'stored', cause },
    serialized: { use, form: 'serialized', cause },
    expanded: { use, form: 'expanded', cause },
  };
}

/** Evaluated for each request. */
export function chooseOutput(facts: OutputFacts): OutputChoice {
  const form = chooseForm(facts);
  if (facts.needsValue) return OUTPUTS.value[form];
  return facts.renderer === undefined ? OUTPUTS.response[form] : OUTPUTS.format[form];
}

/** What is known of a view of a resource before it is read. */
export interface ReadFacts {
  /** Code of the application that takes part in the values of each row. */
  readonly entities: { readonly kind: keyof typeof ENTITY_CAUSES; readonly name: string } | undefined;
  readonly obstacle: JsonObstacle | undefined;
}

/** The static part of the choice for a view. */
export interface ViewReads {
  /** Undefined unless entities are always loaded. */
  readonly entities: ReadChoice | undefined;
  /** For rows whose stored values are the response. */
  readonly stored: ReadChoice;
}

/** Evaluated once for a resource, at start, and for each view of it, at its first use. */
export function chooseViewReads({ entities, obstacle }: ReadFacts): ViewReads {
  return {
    entities: entities && choiceOf(ENTITY_CAUSES[entities.kind], entities.name),
    stored: obstacle ? choiceOf(JSON_CAUSES[obstacle.kind], obstacle.name) : JSON_WRITTEN,
  };
}

/** The choices of a view of whose table a column has turned out to have another type. */
export function withoutJson({ entities }: ViewReads): ViewReads {
  return { entities, stored: choiceOf(LIVE_CAUSES['other-type'], '') };
}

/**
 * Evaluated for each read.
 * @param isStored whether the stored values are the response.
 * @param subscriber the name of a subscriber that sees entities when they are loaded.
 */
export function chooseRead(view: ViewReads, isStored: boolean, subscriber: string | undefined): ReadChoice {
  if (view.entities) return view.entities;
  if (subscriber !== undefined) return choiceOf(LIVE_CAUSES.subscriber, subscriber);
  return isStored ? view.stored : VALUES_READ;
}

/**
 * Evaluated once a statement has returned: whether the database has written the rows. If not, one of their values has no JSON there
 * (`values`), and they are read again in the lane `rows`.
 */
export function isWritten(text: string | undefined): text is string {
  return text !== undefined;
}

/** The choice for an operation, with the reason of its request. */
export function explainRead(
  output: OutputChoice,
  { read, name }: { readonly read: (isStored: boolean) => ReadChoice; readonly name: string },
): ReadChoice {
  const choice = read(output.cause === undefined);
  return choice.lane === 'entities' || output.cause === undefined
    ? choice
    : choiceOf(REQUEST_CAUSES[output.cause], name);
}

function choiceOf({ lane, because }: Cause, name: string): ReadChoice {
  return { lane, reason: because(name) };
}
