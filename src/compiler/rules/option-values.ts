import { BULK_OPERATIONS } from '../../core/contracts/bulk.js';
import type { Pagination } from '../../core/contracts/pagination.js';
import type { Renderer } from '../../core/contracts/renderer.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { JSON_MEDIA_TYPE } from '../../core/contracts/renderer.js';
import {
  IDEMPOTENCY_LIFE,
  LONGEST_TIMER,
  MAX_IDEMPOTENCY_LIFE,
  MOST_BULK_OBJECTS,
} from '../../core/schema/limits.js';
import { OPERATIONS, TRASH_OPERATIONS } from '../../core/schema/operation.js';
import {
  booleanOr,
  check,
  falseOr,
  flawsAt,
  formatValue,
  isCount,
  isFunction,
  isNonEmptyText,
  kindOf,
  nameList,
  notNull,
  objectWith,
} from './option-kinds.js';
import type { OptionKind } from './option-kinds.js';
import { unfitScheme } from './unfit-scheme.js';

const CALLER_KEY = 'Write key: (actor) => actor.email, with what tells one caller from another.';
export const throttle = notNull(
  objectWith(
    {
      limit: kindOf((given) => isCount(given), 'not a number of requests', 'Write a whole number above 0.'),
      ttl: kindOf(
        (given) => isCount(given, LONGEST_TIMER - 1),
        'not a valid time',
        `Give whole milliseconds, above 0 and below ${LONGEST_TIMER}.`,
      ),
      key: kindOf(isFunction, 'not a function', CALLER_KEY),
    },
    {
      what: (given) => `${formatValue(given)} is not an object`,
      repair: 'Write { limit: 100, ttl: 60_000 }: requests, and the milliseconds in which they may come.',
      noun: 'a part of a throttle',
      required: ['limit', 'ttl'],
    },
  ),
);

const nameForPeople = kindOf(isNonEmptyText, 'not a name', "Write a text, such as 'Categories'.");

export const labels = notNull(
  objectWith(
    { one: nameForPeople, many: nameForPeople },
    {
      what: (given) => `${formatValue(given)} is not an object`,
      repair: "Write both names, such as { one: 'Category', many: 'Categories' }.",
      noun: 'a name of objects',
      required: ['one', 'many'],
    },
  ),
);

export const aggregate = notNull(
  objectWith(
    {
      group: nameList,
      sum: nameList,
      avg: nameList,
      min: nameList,
      max: nameList,
      minGroup: kindOf((given) => isCount(given), 'not a number of rows', 'Write a whole number above 0.'),
    },
    {
      what: (given) => `${formatValue(given)} is not an object`,
      repair: "Write { group: ['status'], sum: ['total'] }, or {} for the number of rows alone.",
      noun: 'a part of aggregates',
    },
  ),
);

export const pagination = falseOr(
  check(
    isPagination,
    'this is not a pagination',
    'Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.',
  ),
);

/** What a pagination says of its own options. */
export const paginationOptions: OptionKind = function* (given) {
  for (const { option, what, repair } of (isPagination(given) && given.problems?.()) || [])
    yield { at: `.${option}`, what, repair };
};

function isPagination(given: unknown): given is Pagination {
  const { parameters, page, present } = (given ?? {}) as Partial<Record<keyof Pagination, unknown>>;
  return [parameters, page, present].every((method) => typeof method === 'function');
}

export const renderers: OptionKind = function* (given) {
  const listed: readonly unknown[] = Array.isArray(given) ? given : [];
  if (!Array.isArray(given)) yield* rendererKind(given);
  const formats = new Set(['json']);
  const types = new Set([JSON_MEDIA_TYPE]);
  for (const [index, each] of listed.entries()) {
    const at = `[${index}]`;
    if (!isRenderer(each)) {
      yield* flawsAt(at, rendererKind(each));
      continue;
    }
    const { format, mediaType } = each;
    if (!/^[\w-]+$/.test(format) || formats.has(format))
      yield {
        at,
        what: `its format "${format}" is not an unused name`,
        repair: 'Give it letters and digits that no other renderer has; "json" is taken.',
      };
    if (!/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(mediaType) || types.has(mediaType))
      yield {
        at,
        what: `its mediaType "${mediaType}" is not an unused media type`,
        repair:
          'Give it a media type in lower case, without parameters, that no other renderer has: text/csv.',
      };
    formats.add(format);
    types.add(mediaType);
  }
};

const rendererKind = check(
  () => false,
  'this is not a renderer',
  'Write renderers: [new CsvRenderer(), new NdjsonRenderer()], or objects of your own with format, mediaType and render.',
);

function isRenderer(given: unknown): given is Renderer {
  const { format, mediaType, render } = (given ?? {}) as Partial<Record<keyof Renderer, unknown>>;
  return typeof format === 'string' && typeof mediaType === 'string' && typeof render === 'function';
}

export const authentication: OptionKind = function* (given) {
  if (!Array.isArray(given))
    yield {
      at: '',
      what: 'this is not a list of schemes',
      repair: "Write authentication: [basic(verify)], or ['jwt'].",
    };
  else
    for (const [index, each] of (given as readonly unknown[]).entries()) {
      const unfit = unfitScheme(each);
      if (unfit) yield { at: `[${index}]`, ...unfit };
    }
};

const SHAPE_PARAMETER = check(
  isNonEmptyText,
  (given) => `${JSON.stringify(given)} is not a valid name of a query parameter`,
  'Give a text that is not empty.',
);
const SHAPE_BOUND = check(
  (given) => isCount(given),
  (given) => `${String(given)} is not a valid number of objects`,
  'Give a whole number above 0.',
);
const SHAPE = {
  fieldsParameter: SHAPE_PARAMETER,
  omitParameter: SHAPE_PARAMETER,
  expandParameter: SHAPE_PARAMETER,
  maxChildren: SHAPE_BOUND,
  maxObjects: SHAPE_BOUND,
};
export const shape = booleanOr(
  objectWith(SHAPE, {
    what: 'this is not a shape',
    repair: "Write true, false, or an object: { fieldsParameter: 'only', maxChildren: 20 }.",
    noun: 'an option of a shape',
    unknown: `Known here: ${Object.keys(SHAPE)
      .map((each) => `"${each}"`)
      .join(', ')}.`,
  }),
);

/** Verified as text before its paths. */
export const expandable = check(
  (given) => Array.isArray(given) && given.every((each) => typeof each === 'string'),
  'this is not a list of relations',
  "Write expandable: ['question', 'question.author'].",
);

const CONDITIONAL_REPAIR = "Write true, false or { require: true, etag: 'content' }, with either of the two.";
export const conditional = booleanOr(
  objectWith(
    {
      require: check(isBoolean, 'this is neither true nor false', CONDITIONAL_REPAIR),
      etag: check(
        (given) => given === 'content',
        "this is not 'content'",
        "Write etag: 'content', or leave it out: the version column tells where it can.",
      ),
    },
    {
      what: 'this does not configure conditional requests',
      repair: CONDITIONAL_REPAIR,
      noun: 'an option of conditional requests',
      unknown: CONDITIONAL_REPAIR,
    },
  ),
);

/** The syntax of `Cache-Control` directives (RFC 9111, 5.2). */
const DIRECTIVE = '[!#$%&\'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&\'*+.^_`|~0-9A-Za-z-]+|"[\\t !#-\\[\\]-~]*"))?';
const DIRECTIVES = new RegExp(`^${DIRECTIVE}(?: *, *${DIRECTIVE})*$`);
export const cacheControl = falseOr(
  check(
    (given) => typeof given === 'string' && DIRECTIVES.test(given),
    'this is not a valid value of Cache-Control',
    "Write its directives, such as 'private, no-cache' or 'public, max-age=60', or false for none.",
  ),
);

const IDEMPOTENCY_REPAIR =
  'Write true, false or { require: true, life: 3600 }, with either of the two, and key: (actor) => … where actors have no id.';
export const idempotency = booleanOr(
  objectWith(
    {
      require: check(isBoolean, 'this is neither true nor false', IDEMPOTENCY_REPAIR),
      life: check(
        (given) => isCount(given, MAX_IDEMPOTENCY_LIFE),
        'this is not a valid time to keep responses',
        `Give whole seconds, above 0 and up to ${MAX_IDEMPOTENCY_LIFE}; without the option they are ${IDEMPOTENCY_LIFE}.`,
      ),
      key: check(isFunction, 'this is not a function', CALLER_KEY),
    },
    {
      what: 'this does not configure Idempotency-Key',
      repair: IDEMPOTENCY_REPAIR,
      noun: 'an option of Idempotency-Key',
      unknown: IDEMPOTENCY_REPAIR,
    },
  ),
);

const BULK_REPAIR =
  "Write true, false or { operations: ['create', 'partialUpdate', 'destroy'], upsert: ['code'], max: 100 }, with any of the three.";
export const bulk = booleanOr(
  objectWith(
    {
      operations: bulkList(BULK_OPERATIONS),
      upsert: bulkList(undefined),
      max: check(
        (given) => isCount(given, MOST_BULK_OBJECTS),
        (given) => `${String(given)} is not a valid maximum of objects for one request`,
        `Give a whole number from 1 to ${MOST_BULK_OBJECTS}.`,
      ),
    },
    {
      what: 'this does not configure bulk writes',
      repair: BULK_REPAIR,
      noun: 'an option of bulk writes',
      unknown: BULK_REPAIR,
    },
  ),
);

function bulkList(known: readonly string[] | undefined): OptionKind {
  return function* (given) {
    const names: readonly unknown[] = Array.isArray(given) ? given : [];
    if (names.length === 0) yield { at: '', what: 'this is not a list of names', repair: BULK_REPAIR };
    for (const [index, name] of names.entries()) {
      if (typeof name !== 'string')
        yield { at: `[${index}]`, what: 'this is not a name', repair: BULK_REPAIR };
      else if (known && !known.includes(name))
        yield {
          at: `[${index}]`,
          what: `"${name}" is not an operation that can be done to many objects`,
          repair: didYouMean(name, known),
        };
    }
  };
}

const NAMES: readonly string[] = [...OPERATIONS, ...TRASH_OPERATIONS];

/** Known names of operations. That it is a list of names is an early rule. */
export const operations: OptionKind = function* (given) {
  for (const [index, name] of ((Array.isArray(given) ? given : []) as readonly string[]).entries())
    if (!NAMES.includes(name))
      yield {
        at: `[${index}]`,
        what: `"${name}" is not an operation`,
        repair: didYouMean(name, NAMES),
      };
};

function isBoolean(given: unknown): boolean {
  return typeof given === 'boolean';
}
