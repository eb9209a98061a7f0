import { browsable } from './browsable-kind.js';
import type { OptionFlaw, OptionKind } from './option-flaw.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { LONGEST_TIMER } from '../../core/schema/limits.js';
import type { Pagination } from '../../core/contracts/pagination.js';
import type { RestifyModuleOptions, SharedOption } from '../../restify.options.js';

const NO_FLAWS: readonly OptionFlaw[] = [];

function kindOf(fits: (given: unknown) => boolean, noun: string, repair: string): OptionKind {
  return (given) =>
    fits(given)
      ? NO_FLAWS
      : (nullFlaw(given) ?? [{ at: '', what: `${formatValue(given)} is ${noun}`, repair }]);
}

/** A list with items of one kind. */
function listOf(item: (given: unknown) => boolean, noun: string, repair: string): OptionKind {
  return (given) => {
    if (!Array.isArray(given))
      return nullFlaw(given) ?? [{ at: '', what: `${formatValue(given)} is not a list`, repair }];
    return given.flatMap((each: unknown, index) =>
      item(each)
        ? NO_FLAWS
        : [
            {
              at: `[${index}]`,
              what: `${formatValue(each)} is ${noun}`,
              repair: each === undefined ? CIRCLE : repair,
            },
          ],
    );
  };
}

/** Rejects null, which must not be mistaken for an absent option. */
function nullFlaw(given: unknown): readonly OptionFlaw[] | undefined {
  return given === null
    ? [
        {
          at: '',
          what: 'null is not a valid value of an option',
          repair: 'Leave the option out, or give it a value.',
        },
      ]
    : undefined;
}

/** Formats a value for a message. */
function formatValue(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 40));
  if (typeof given === 'function') return 'a function';
  if (Array.isArray(given)) return 'a list';
  return typeof given === 'object' && given !== null ? 'an object' : String(given);
}

const CIRCLE = 'It is not there yet: look for files that import each other in a circle.';

function isNonEmptyText(given: unknown): boolean {
  return typeof given === 'string' && given !== '';
}

function isOrigin(given: unknown): boolean {
  return (
    typeof given === 'string' &&
    /^https?:/.test(given) &&
    URL.canParse(given) &&
    new URL(given).origin === given
  );
}

function isClass(given: unknown): boolean {
  return typeof given === 'function';
}

function isPlainObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

function isWhole(given: unknown, below: number): boolean {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0 && given < below;
}

const flag = kindOf(
  (given) => typeof given === 'boolean',
  'neither true nor false',
  "Write true or false; of an environment variable, process.env.NAME === 'true'.",
);
const text = kindOf(
  (given) => typeof given === 'string',
  'not a name',
  'Write a text, or leave the option out.',
);
const path = kindOf(
  (given) => given === false || (typeof given === 'string' && /^\/*[A-Za-z0-9_.~/-]*$/.test(given)),
  'not a valid path',
  "Write a path such as 'api', or false for none.",
);
const nameList = listOf(isNonEmptyText, 'not a name', "Write a list of names, such as ['title'].");
const lookups = listOf(isNonEmptyText, 'not a lookup', "Write a list of lookups, such as ['exact', 'gte'].");
const namesOrLookups: OptionKind = (given) =>
  isPlainObject(given) ? objectWithValues(lookups)(given) : nameList(given);
const classes = listOf(isClass, 'not a class', 'Write a list of classes, such as [MyClass].');
const permissions = listOf(
  (given) => isClass(given) || (isPlainObject(given) && isNonEmptyText(given.kind)),
  'not a permission',
  'Write a list of classes, and of what allOf, anyOf and not make of them.',
);
const origins = listOf(
  isOrigin,
  'not an origin',
  "Use a list of origins without a path, such as ['https://admin.example.com'].",
);
const aClass = kindOf(isClass, 'not a class', 'Write the class itself, and no instance of it.');
const plainObject = kindOf(isPlainObject, 'not an object', 'Write an object, such as { name: value }.');

/** An object with values of one kind. Undefined ones are ignored. */
function objectWithValues(part: OptionKind): OptionKind {
  return (given) =>
    isPlainObject(given)
      ? Object.entries(given).flatMap(([name, value]) =>
          value === undefined ? NO_FLAWS : part(value).map((flaw) => ({ ...flaw, at: `.${name}${flaw.at}` })),
        )
      : plainObject(given);
}

const pagination: OptionKind = (given) =>
  given === false || isPagination(given)
    ? NO_FLAWS
    : [
        {
          at: '',
          what: 'this is not a pagination',
          repair:
            'Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.',
        },
      ];

function isPagination(given: unknown): boolean {
  const { parameters, page, present } = (given ?? {}) as Partial<Record<keyof Pagination, unknown>>;
  return [parameters, page, present].every((method) => typeof method === 'function');
}

const THROTTLE_PARTS: Readonly<Record<string, OptionKind>> = {
  limit: kindOf(
    (given) => isWhole(given, Infinity),
    'not a number of requests',
    'Write a whole number above 0.',
  ),
  ttl: kindOf(
    (given) => isWhole(given, LONGEST_TIMER),
    'not a valid time',
    `Give whole milliseconds, above 0 and below ${LONGEST_TIMER}.`,
  ),
  key: kindOf(
    isClass,
    'not a function',
    'Write key: (actor) => actor.email, with what tells one caller from another.',
  ),
};

function throttle(given: unknown): readonly OptionFlaw[] {
  const repair = 'Write { limit: 100, ttl: 60_000 }: requests, and the milliseconds in which they may come.';
  if (!isPlainObject(given))
    return nullFlaw(given) ?? [{ at: '', what: `${formatValue(given)} is not an object`, repair }];
  const { limit, ttl, ...rest } = given;
  return Object.entries({ limit, ttl, ...rest }).flatMap(([name, part]): readonly OptionFlaw[] => {
    const kind = Object.hasOwn(THROTTLE_PARTS, name) ? THROTTLE_PARTS[name] : undefined;
    if (!kind)
      return [
        {
          at: `.${name}`,
          what: `"${name}" is not a part of a throttle`,
          repair: didYouMean(name, Object.keys(THROTTLE_PARTS)),
        },
      ];
    return name === 'key' && part === undefined
      ? NO_FLAWS
      : kind(part).map((flaw) => ({ ...flaw, at: `.${name}${flaw.at}` }));
  });
}

/** Accepts any value, because another rule validates it with better messages. */
const ownRule: OptionKind = () => NO_FLAWS;
/** As above, except null, for which that rule would get the default. */
const ownRuleButNull: OptionKind = (given) => nullFlaw(given) ?? NO_FLAWS;

/** The validators of the options that prefixes and models have in common. */
const SHARED: Readonly<Record<SharedOption, OptionKind>> = {
  filterBackends: classes,
  pagination,
  renderers: ownRule,
  shape: ownRule,
  conditional: ownRule,
  cacheControl: ownRule,
  idempotency: ownRule,
  strict: flag,
  returnDeleted: flag,
  queryLimits: plainObject,
  parameters: plainObject,
  permissions,
  authentication: ownRule,
  guards: classes,
  interceptors: classes,
  pipes: classes,
  throttle,
};

/** The validators of the options of `forRoot`. */
export const PREFIX_OPTIONS: Readonly<Record<keyof RestifyModuleOptions, OptionKind>> = {
  ...SHARED,
  authentication: ownRuleButNull,
  renderers: ownRuleButNull,
  dataSource: text,
  acquireTimeout: ownRuleButNull,
  statementTimeout: ownRuleButNull,
  shutdownGrace: ownRuleButNull,
  fairShare: flag,
  triggerMessages: flag,
  unknownEntities: kindOf(
    (given) => given === 'warn' || given === 'error' || given === 'ignore',
    'nothing that can become of them',
    "Write 'warn', 'error' or 'ignore'.",
  ),
  missingIndexRows: kindOf(
    (given) => given === false || (Number.isSafeInteger(given) && Number(given) >= 0),
    'not a number of rows',
    'Give a whole number, or false for no warnings.',
  ),
  index: path,
  errorFormat: ownRuleButNull,
  onError: aClass,
  browsable,
  refusalsHide: ownRuleButNull,
  trustedOrigins: origins,
  authenticationTimeout: ownRuleButNull,
  authenticationThrottle: ownRuleButNull,
};

/** The validators of the options of `@Restify`. */
export const MODEL_OPTIONS: Readonly<Record<keyof RestifyOptions, OptionKind>> = {
  ...SHARED,
  app: text,
  name: text,
  description: text,
  label: text,
  fields: nameList,
  exclude: nameList,
  readOnly: nameList,
  writeOnly: nameList,
  optional: nameList,
  trim: objectWithValues(flag),
  listenerRelations: nameList,
  type: plainObject,
  computed: plainObject,
  operations: nameList,
  filterFields: namesOrLookups,
  filterGroups: flag,
  filters: objectWithValues(plainObject),
  searchFields: nameList,
  orderingFields: nameList,
  orderingNulls: flag,
  ordering: nameList,
  expandable: ownRule,
  bulk: ownRule,
  serializer: aClass,
  through: plainObject,
};
