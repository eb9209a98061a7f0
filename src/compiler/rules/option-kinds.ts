import { didYouMean } from '../../core/errors/declaration-error.js';

/** A problem with a value, and its path within the option: `.limit`, `[2]`, or empty. */
export interface OptionFlaw {
  readonly at: string;
  readonly what: string;
  readonly repair: string;
}

/** Finds what is wrong with the value of an option. Not called for an option that is absent or undefined. */
export type OptionKind = (given: unknown) => Iterable<OptionFlaw>;

type Text = string | ((given: unknown) => string);

const NONE: readonly OptionFlaw[] = [];
const NULL: readonly OptionFlaw[] = [
  {
    at: '',
    what: 'null is not a valid value of an option',
    repair: 'Leave the option out, or give it a value.',
  },
];
const CIRCLE = 'It is not there yet: look for files that import each other in a circle.';

/** Any value: another rule checks it. */
export const anything: OptionKind = () => NONE;

/** Values that fit. */
export function check(fits: (given: unknown) => boolean, what: Text, repair: string): OptionKind {
  return (given) =>
    fits(given) ? NONE : [{ at: '', what: typeof what === 'string' ? what : what(given), repair }];
}

/** Rejects null, which must not be mistaken for an absent option. */
export function notNull(kind: OptionKind): OptionKind {
  return (given) => (given === null ? NULL : kind(given));
}

/** Values that fit; of another one the message says what it is not. */
export function kindOf(fits: (given: unknown) => boolean, noun: string, repair: string): OptionKind {
  return notNull(check(fits, (given) => `${formatValue(given)} is ${noun}`, repair));
}

/** `false`, or a value of the kind. */
export function falseOr(kind: OptionKind): OptionKind {
  return (given) => (given === false ? NONE : kind(given));
}

/** A boolean, or a value of the kind. */
export function booleanOr(kind: OptionKind): OptionKind {
  return (given) => (typeof given === 'boolean' ? NONE : kind(given));
}

/** A list with items of one kind. */
export function listOf(fits: (given: unknown) => boolean, noun: string, repair: string): OptionKind {
  return notNull(function* (given) {
    if (!Array.isArray(given)) yield { at: '', what: `${formatValue(given)} is not a list`, repair };
    else
      for (const [index, each] of (given as readonly unknown[]).entries())
        if (!fits(each))
          yield {
            at: `[${index}]`,
            what: `${formatValue(each)} is ${noun}`,
            repair: each === undefined ? CIRCLE : repair,
          };
  });
}

/** An object with values of one kind. Undefined ones are ignored. */
export function objectOf(part: OptionKind): OptionKind {
  return function* (given) {
    if (!isPlainObject(given)) yield* plainObject(given);
    else
      for (const [name, value] of Object.entries(given))
        if (value !== undefined) yield* flawsAt(`.${name}`, part(value));
  };
}

interface ObjectTexts {
  /** Of a value that is not an object. */
  readonly what: Text;
  readonly repair: string;
  /** What a member is: `an option of bulk writes`. */
  readonly noun: string;
  /** The repair of an unknown member. Default: the known ones. */
  readonly unknown?: string;
  /** Members that are checked although they are absent. */
  readonly required?: readonly string[];
}

/** An object with these members. Undefined ones are absent. */
export function objectWith(
  parts: Readonly<Record<string, OptionKind>>,
  { what, repair, noun, unknown, required = [] }: ObjectTexts,
): OptionKind {
  return function* (given) {
    if (!isPlainObject(given)) {
      yield* check(() => false, what, repair)(given);
      return;
    }
    for (const name of required) yield* flawsAt(`.${name}`, parts[name]?.(given[name]) ?? NONE);
    for (const [name, value] of Object.entries(given)) {
      const kind = Object.hasOwn(parts, name) ? parts[name] : undefined;
      if (!kind)
        yield {
          at: `.${name}`,
          what: `"${name}" is not ${noun}`,
          repair: unknown ?? didYouMean(name, Object.keys(parts)),
        };
      else if (value !== undefined && !required.includes(name)) yield* flawsAt(`.${name}`, kind(value));
    }
  };
}

/** The flaws of a part, located in the whole. */
export function* flawsAt(at: string, flaws: Iterable<OptionFlaw>): Iterable<OptionFlaw> {
  for (const flaw of flaws) yield { ...flaw, at: at + flaw.at };
}

/** Formats a value for a message. */
export function formatValue(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 40));
  if (typeof given === 'function') return 'a function';
  if (Array.isArray(given)) return 'a list';
  return typeof given === 'object' && given !== null ? 'an object' : String(given);
}

export function isPlainObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

export function isNonEmptyText(given: unknown): boolean {
  return typeof given === 'string' && given !== '';
}

export function isFunction(given: unknown): boolean {
  return typeof given === 'function';
}

/** Whether a value is a whole number from 1 to `most`. */
export function isCount(given: unknown, most = Infinity): given is number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given > 0 && given <= most;
}

export const flag = kindOf(
  (given) => typeof given === 'boolean',
  'neither true nor false',
  "Write true or false; of an environment variable, process.env.NAME === 'true'.",
);
export const text = kindOf(
  (given) => typeof given === 'string',
  'not a name',
  'Write a text, or leave the option out.',
);
export const nameList = listOf(isNonEmptyText, 'not a name', "Write a list of names, such as ['title'].");
export const classes = listOf(isFunction, 'not a class', 'Write a list of classes, such as [MyClass].');
export const aClass = kindOf(isFunction, 'not a class', 'Write the class itself, and no instance of it.');
export const plainObject = kindOf(
  isPlainObject,
  'not an object',
  'Write an object, such as { name: value }.',
);
