import { editDistance } from '../../core/errors/declaration-error.js';
import { HOOK_NAMES } from '../../decorators/action.decorator.js';
import { classes, isFunction } from './option-kinds.js';
import type { OptionFlaw, OptionKind } from './option-kinds.js';

/** The hooks of a class that runs in the writes of every model. */
export const WRITE_HOOKS = ['beforeWrite', 'afterWrite'] as const;

export type WriteHookName = (typeof WRITE_HOOKS)[number];

/** A list of classes with hooks for every model of a prefix. */
export const hookClasses: OptionKind = function* (given) {
  yield* classes(given);
  for (const [index, type] of (Array.isArray(given) ? given : []).entries())
    if (isFunction(type)) yield* flawsOf(type as HookType, `[${index}]`);
};

interface HookType {
  readonly name: string;
  readonly prototype: object | undefined;
}

function* flawsOf(type: HookType, at: string): Iterable<OptionFlaw> {
  const { methods, others } = membersOf(type);
  const hooks = writeHooksOf(type);
  for (const name of HOOK_NAMES)
    if (others.has(name))
      yield {
        at,
        what: `${type.name}.${name} is a property, and a hook is a method`,
        repair: `Write ${name}(…) { … }.`,
      };
  for (const name of HOOK_NAMES)
    if (methods.has(name) && !WRITE_HOOKS.some((each) => each === name))
      yield {
        at,
        ...(name === 'afterCommit'
          ? {
              what: `${type.name}.${name} is not called by these hooks, which run before the COMMIT`,
              repair: 'Write it in another class, and name that in afterCommit of forRoot.',
            }
          : {
              what: `${type.name}.${name} is a hook of one model`,
              repair: `Write it in a @RestifyController that extends ResourceController; for every model, use permissions of forRoot.`,
            }),
      };
  const misspelt = [...misspeltNames(WRITE_HOOKS, { hooks, methods: [...methods] })];
  for (const { method, what, repair } of misspelt)
    yield { at, what: `${type.name}.${method}: ${what}`, repair };
  if (hooks.length === 0 && misspelt.length === 0)
    yield {
      at,
      what: `${type.name} has no hook`,
      repair: 'Give it a method beforeWrite(write) or afterWrite(write).',
    };
}

/** The hooks that the class itself has, whatever provides its instances. */
export function writeHooksOf(type: HookType): readonly WriteHookName[] {
  const { methods } = membersOf(type);
  return WRITE_HOOKS.filter((name) => methods.has(name));
}

/** The names of a class and of those that it extends. */
function membersOf({ prototype: own }: HookType): {
  readonly methods: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
} {
  const methods = new Set<string>();
  const others = new Set<string>();
  for (
    let prototype: object | null | undefined = own;
    prototype && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (name !== 'constructor' && !methods.has(name) && !others.has(name))
        (typeof value === 'function' ? methods : others).add(name);
  return { methods, others };
}

interface MisspeltName {
  readonly method: string;
  readonly what: string;
  readonly repair: string;
}

/** The methods that would never be called as the hook that they are meant to be. */
export function* misspeltNames<Name extends string>(
  names: readonly Name[],
  { hooks, methods }: { readonly hooks: readonly Name[]; readonly methods: readonly string[] },
): Iterable<MisspeltName> {
  for (const hook of names)
    for (const method of hooks.includes(hook) ? [] : methods)
      if (editDistance(method, hook) === 1)
        yield {
          method,
          what: 'it is not a hook, and is never called',
          repair: `Did you mean "${hook}"? Otherwise rename the method.`,
        };
}
