import { didYouMean } from '../../core/errors/declaration-error.js';
import {
  AUTHENTICATION_TIMEOUT,
  LONGEST_TIMER,
  MOST_OF_QUERY,
  MOST_REFUSALS,
  REFUSAL_LIMITS,
  SHUTDOWN_GRACE,
} from '../../core/schema/limits.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import type { RestifyModuleOptions, SharedOption } from '../../restify.options.js';
import { browsable } from './browsable-kind.js';
import { fullText } from './full-text-kind.js';
import { hookClasses } from './hook-classes.js';
import {
  aClass,
  anything,
  check,
  classes,
  falseOr,
  flag,
  isCount,
  isFunction,
  isNonEmptyText,
  isPlainObject,
  kindOf,
  listOf,
  nameList,
  notNull,
  objectOf,
  objectWith,
  plainObject,
  text,
} from './option-kinds.js';
import type { OptionKind } from './option-kinds.js';
import {
  aggregate,
  labels,
  authentication,
  bulk,
  cacheControl,
  conditional,
  expandable,
  idempotency,
  operations,
  pagination,
  paginationOptions,
  renderers,
  shape,
  throttle,
} from './option-values.js';

/** What the value of an option must be. */
export interface OptionRule {
  /** Checked before the compilation, which relies on it. */
  readonly early: OptionKind;
  /** Checked after it, so that its problems are listed with those of the model. */
  readonly late: OptionKind;
}

const early = (kind: OptionKind, then: OptionKind = anything): OptionRule => ({ early: kind, late: then });
const late = (kind: OptionKind): OptionRule => ({ early: anything, late: kind });
/** As `late`, except that null, for which the later rule would get the default, is an early flaw. */
const lateNotNull = (kind: OptionKind): OptionRule => ({ early: notNull(anything), late: kind });

const lookups = listOf(isNonEmptyText, 'not a lookup', "Write a list of lookups, such as ['exact', 'gte'].");
const lookupsOfPath = objectWith(
  { type: text, lookups, column: text },
  { what: '', repair: '', noun: 'a part of the filters of a path', required: ['lookups'] },
);
const namesOrLookups: OptionKind = (given) =>
  isPlainObject(given)
    ? objectOf((each) => (isPlainObject(each) ? lookupsOfPath(each) : lookups(each)))(given)
    : nameList(given);

const path = kindOf(
  (given) => given === false || (typeof given === 'string' && /^\/*[A-Za-z0-9_.~/-]*$/.test(given)),
  'not a valid path',
  "Write a path such as 'api', or false for none.",
);
const permissions = listOf(
  (given) => isFunction(given) || (isPlainObject(given) && isNonEmptyText(given.kind)),
  'not a permission',
  'Write a list of classes, and of what allOf, anyOf and not make of them.',
);
const origins = listOf(
  (given) =>
    typeof given === 'string' &&
    /^https?:/.test(given) &&
    URL.canParse(given) &&
    new URL(given).origin === given,
  'not an origin',
  "Use a list of origins without a path, such as ['https://admin.example.com'].",
);
const unknownEntities = kindOf(
  (given) => given === 'warn' || given === 'error' || given === 'ignore',
  'not a reaction to unknown entities',
  "Write 'warn', 'error' or 'ignore'.",
);
const nested: OptionKind = (given) =>
  isPlainObject(given) ? objectOf(objectOf(flag))(given) : nameList(given);
const responses = kindOf(
  (given) => given === 'afterCommit',
  'not a time of the response',
  "Write 'afterCommit', or leave the option out.",
);
const strict: OptionKind = (given) => (given === 'writes' ? [] : flag(given));
const missingIndexRows = kindOf(
  (given) => given === false || (Number.isSafeInteger(given) && Number(given) >= 0),
  'not a number of rows',
  'Give a whole number, or false for no warnings.',
);

/** Known limits, positive (features are disabled by other options), and within the bounds of databases. */
function limits(most: Readonly<Record<string, number>>, ofUndefined: boolean): OptionKind {
  return function* (given) {
    for (const [name, limit] of Object.entries((given ?? {}) as Readonly<Record<string, unknown>>)) {
      const bound = Object.hasOwn(most, name) ? most[name] : undefined;
      if (bound === undefined)
        yield {
          at: `.${name}`,
          what: `"${name}" is not a limit`,
          repair: didYouMean(name, Object.keys(most)),
        };
      else if (!isCount(limit, bound) && (limit !== undefined || ofUndefined))
        yield {
          at: `.${name}`,
          what: `${String(limit)} is not a limit`,
          repair: `Write a whole number from 1 to ${bound}.`,
        };
    }
  };
}

const refusalLimits = limits({ ...MOST_REFUSALS }, false);
const { perAddress, perUser, ttl } = REFUSAL_LIMITS;
const authenticationThrottle = falseOr((given) =>
  isPlainObject(given)
    ? refusalLimits(given)
    : check(
        () => false,
        'this does not configure refused credentials',
        `Write false, or { perAddress: ${perAddress}, perUser: ${perUser}, ttl: ${ttl} }, with any of them.`,
      )(given),
);

const TIMES = `Give milliseconds, above 0 and below ${LONGEST_TIMER}`;

function waitingTime(without: number): OptionKind {
  return check(
    isTime,
    (given) => `${String(given)} is not a valid waiting time`,
    `${TIMES}; without the option they are ${without}.`,
  );
}

function isTime(given: unknown): boolean {
  return typeof given === 'number' && given > 0 && given < LONGEST_TIMER;
}

/** Without it, incomplete requests are closed as soon as the application shuts down: 0. */
const shutdownGrace = check(
  (given) => given === 0 || isTime(given),
  (given) => `${String(given)} is not a valid waiting time`,
  `Give milliseconds, from 0 and below ${LONGEST_TIMER}; without the option they are ${SHUTDOWN_GRACE}.`,
);

/** The options that prefixes and models have in common. */
const SHARED: Readonly<Record<SharedOption, OptionRule>> = {
  filterBackends: early(classes),
  pagination: early(pagination, paginationOptions),
  renderers: late(renderers),
  shape: late(shape),
  conditional: late(conditional),
  cacheControl: late(cacheControl),
  idempotency: late(idempotency),
  strict: early(strict),
  returnDeleted: early(flag),
  queryLimits: early(plainObject, limits({ ...MOST_OF_QUERY }, true)),
  expansionQueries: early(flag),
  query: early(flag),
  parameters: early(plainObject),
  permissions: early(permissions),
  authentication: late(authentication),
  guards: early(classes),
  interceptors: early(classes),
  pipes: early(classes),
  throttle: early(throttle),
};

/** The options of `forRoot`. */
export const PREFIX_OPTIONS: Readonly<Record<keyof RestifyModuleOptions, OptionRule>> = {
  ...SHARED,
  authentication: lateNotNull(authentication),
  renderers: lateNotNull(renderers),
  dataSource: early(text),
  acquireTimeout: lateNotNull(waitingTime(10_000)),
  statementTimeout: lateNotNull(
    falseOr(
      check(
        isTime,
        (given) => `${String(given)} is not a valid time limit for statements`,
        `${TIMES}, or false for any time; without the option they are 30000.`,
      ),
    ),
  ),
  shutdownGrace: lateNotNull(shutdownGrace),
  fairShare: early(flag),
  triggerMessages: early(flag),
  unknownEntities: early(unknownEntities),
  missingIndexRows: early(missingIndexRows),
  index: early(path),
  errorFormat: lateNotNull(
    check(
      (given) => given === 'drf' || given === 'problem',
      (given) => `there is no error format ${JSON.stringify(given)}`,
      "Write 'drf' or 'problem'.",
    ),
  ),
  onError: early(aClass),
  hooks: early(hookClasses),
  afterCommit: early(aClass),
  browsable: early(browsable),
  refusalsHide: lateNotNull(
    check(
      (given) => given === 'rows' || given === 'nothing',
      (given) => `refusalsHide cannot be ${JSON.stringify(given)}`,
      "Write 'rows' or 'nothing'.",
    ),
  ),
  trustedOrigins: early(origins),
  authenticationTimeout: lateNotNull(waitingTime(AUTHENTICATION_TIMEOUT)),
  authenticationThrottle: lateNotNull(authenticationThrottle),
};

/** The options of `@Restify`, and of `through`. */
export const MODEL_OPTIONS: Readonly<Record<keyof RestifyOptions, OptionRule>> = {
  ...SHARED,
  app: early(text),
  name: early(text),
  description: early(text),
  label: early(text),
  labels: early(labels),
  fields: early(nameList),
  exclude: early(nameList),
  readOnly: early(nameList),
  writeOnly: early(nameList),
  optional: early(nameList),
  trim: early(objectOf(flag)),
  listenerRelations: early(nameList),
  type: early(plainObject),
  computed: early(plainObject),
  operations: early(nameList, operations),
  filterFields: early(namesOrLookups),
  filterGroups: early(flag),
  filters: early(objectOf(plainObject)),
  searchFields: early(nameList),
  fullText: early(fullText),
  orderingFields: early(nameList),
  orderingNulls: early(flag),
  ordering: early(nameList),
  aggregate: early(aggregate),
  expandable: late(expandable),
  counts: early(nameList),
  relatedKeys: early(nameList),
  nested: early(nested),
  bulk: late(bulk),
  serializer: early(aClass),
  responses: early(responses),
  trash: early(flag),
  mergePatch: early(flag),
  through: early(plainObject),
};

/** The rule of an option; undefined for an unknown name. */
export function ruleOf(name: string, rules: Readonly<Record<string, OptionRule>>): OptionRule | undefined {
  return Object.hasOwn(rules, name) ? rules[name] : undefined;
}
