import type { ExposedClass, Exposure } from '../../core/schema/entity-metadata.js';

export interface TransformOptions {
  readonly enableCircularCheck?: boolean;
  readonly exposeUnsetFields?: boolean;
  readonly groups?: string[];
  readonly version?: number;
}

/**
 * The functions of class-transformer by which a class is probed: the metadata of its decorators is private, and separate for
 * each installed copy of the package.
 */
export interface ClassTransformer {
  readonly toPlain: (object: object, options: TransformOptions) => object;
  readonly toInstance: (target: object, plain: object, options: TransformOptions) => object;
}

/** One direction of class-transformer: from or to an instance of the class. */
interface Direction {
  readonly transform: (probe: object, options: TransformOptions) => object;
  /** The prototype of the probe, and the value of its `constructor`. */
  readonly prototype: object;
  readonly constructed: unknown;
  /** The effect on a property that is not excluded. */
  readonly effect: 'shown' | 'taken';
}

interface ProbeOptions {
  readonly direction: Direction;
  readonly options: TransformOptions;
}

/** A list of groups that matches the groups of every property. */
class EveryGroup extends Array<string> {
  override some(): boolean {
    return true;
  }
}

const AS_IT_IS: TransformOptions = { enableCircularCheck: true, exposeUnsetFields: true };
const IN_EVERY_GROUP: TransformOptions = { ...AS_IT_IS, groups: EveryGroup.of('every') };
const IN_VERSIONS: readonly TransformOptions[] = [-Infinity, Infinity].map((version) => ({
  ...AS_IT_IS,
  version,
}));
const CHANGED = 'is given another value by class-transformer (@Transform, @Type), and here is not';

/** Represents the probe as the value of its own property, which the circular check of class-transformer skips without calling anything. */
const SELF = Symbol('the probe itself');

/** The effect of the decorators of a property in one direction. */
interface PropertyEffect {
  readonly isIncluded: boolean;
  readonly ignoredEffects: readonly string[];
}

/**
 * Determines the exposure of the properties of a class: each is transformed in both directions with sample values, in an object
 * whose other properties are skipped.
 */
export function probeClass(
  type: ExposedClass,
  samples: ReadonlyMap<string, readonly unknown[]>,
  { toPlain, toInstance }: ClassTransformer,
): ReadonlyMap<string, Exposure> {
  const outward: Direction = {
    transform: toPlain,
    prototype: type.prototype as object,
    constructed: type,
    effect: 'shown',
  };
  const inward: Direction = {
    transform: (plain, options) => toInstance(instanceLike(type), plain, options),
    prototype: Object.prototype,
    constructed: Object,
    effect: 'taken',
  };
  const [shown, taken] = [probeProperties(samples, outward), probeProperties(samples, inward)];
  const exposures = new Map<string, Exposure>();
  for (const name of samples.keys()) {
    const effects = [shown.get(name) ?? UNDECORATED, taken.get(name) ?? UNDECORATED] as const;
    const ignoredEffects = [...new Set(effects.flatMap((effect) => effect.ignoredEffects))];
    if (effects.every(({ isIncluded }) => isIncluded) && ignoredEffects.length === 0) continue;
    exposures.set(name, { readable: effects[0].isIncluded, writable: effects[1].isIncluded, ignoredEffects });
  }
  return exposures;
}

const UNDECORATED: PropertyEffect = { isIncluded: true, ignoredEffects: [] };

/** An object that has the class as its `constructor`, but runs neither constructor nor accessors of the class. */
function instanceLike(type: ExposedClass): object {
  return new Proxy(Object.create(null) as object, {
    get: (target, name) => (name === 'constructor' ? type : (Reflect.get(target, name) as unknown)),
  });
}

/** The effects on the decorated properties. Two probes of all properties suffice for a class without decorators. */
function probeProperties(
  samples: ReadonlyMap<string, readonly unknown[]>,
  direction: Direction,
): ReadonlyMap<string, PropertyEffect> {
  const names = [...samples.keys()];
  const firsts = new Map([...samples].map(([name, values]) => [name, values[0]]));
  const nulls = new Map(names.map((name) => [name, null]));
  const [first = AS_IT_IS, last = AS_IT_IS] = IN_VERSIONS;
  if (isUnchanged(firsts, { direction, options: first }) && isUnchanged(nulls, { direction, options: last }))
    return new Map();
  const renamed = renamedBy(names, direction);
  return new Map(
    [...samples].map(([name, values]) => [
      name,
      renamed.has(name) ? UNDECORATED : probeProperty(name, values, direction),
    ]),
  );
}

/** Whether the properties of an object are all read, and have the same values afterwards. */
function isUnchanged(values: ReadonlyMap<string, unknown>, { direction, options }: ProbeOptions): boolean {
  const read = new Set<string>();
  const probe = probeOf([...values.keys()], direction, { read, valueOf: (name) => values.get(name) });
  const transformed = attempt(() => direction.transform(probe, options)) as
    Readonly<Record<string, unknown>> | undefined;
  return (
    transformed !== undefined &&
    [...values].every(
      ([name, value]) =>
        read.has(name) &&
        name in transformed &&
        toComparableJson(transformed[name]) === toComparableJson(value),
    )
  );
}

function probeProperty(name: string, values: readonly unknown[], direction: Direction): PropertyEffect {
  const outcomes = values.map((value) => transformProperty(name, value, { direction, options: AS_IT_IS }));
  const returned = outcomes.filter((each) => each !== undefined);
  const isIncluded = (options: TransformOptions): boolean =>
    values.some((value) => (transformProperty(name, value, { direction, options }) ?? []).length > 0);
  if (returned.some(hasValue)) {
    const changes = values.flatMap((value, index) =>
      changeOf(name, value, { entries: outcomes[index], direction }),
    );
    const version = IN_VERSIONS.every(isIncluded)
      ? []
      : [`is ${direction.effect} in some versions only, and here in each`];
    return { isIncluded: true, ignoredEffects: [...changes.slice(0, 1), ...version] };
  }
  return { isIncluded: false, ignoredEffects: findIgnoredEffects(returned, { direction, isIncluded }) };
}

/** False if the value is undefined, which JSON omits. */
function hasValue(entries: Entries): boolean {
  return entries.some(([, value]) => value !== undefined);
}

/** Effects of the decorators of an excluded property that are ignored: none for one with `@Exclude()`. */
function findIgnoredEffects(
  returned: readonly Entries[],
  {
    direction: { effect },
    isIncluded,
  }: { readonly direction: Direction; readonly isIncluded: (options: TransformOptions) => boolean },
): readonly string[] {
  if (returned.length === 0) return [`makes class-transformer throw, and is not ${effect}`];
  if (returned.some((entries) => entries.length > 0))
    return [`is made undefined by class-transformer (@Transform), and is not ${effect}`];
  return isIncluded(IN_EVERY_GROUP) ? [`is ${effect} in groups only, and here in none`] : [];
}

type Entries = readonly (readonly [string, unknown])[];

/** Transforms one property with this value, without the others; undefined if class-transformer throws. */
function transformProperty(
  name: string,
  value: unknown,
  { direction, options }: ProbeOptions,
): Entries | undefined {
  for (const others of [SELF, undefined]) {
    const probe = probeOf([name], direction, { valueOf: (each) => (each === name ? value : others) });
    const transformed = attempt(() => direction.transform(probe, options));
    if (transformed)
      return Object.entries(transformed).filter(([, each]) => others === SELF || each !== undefined);
  }
  return undefined;
}

/** Describes how a value is changed, if it is. */
function changeOf(
  name: string,
  value: unknown,
  { entries, direction }: { readonly entries: Entries | undefined; readonly direction: Direction },
): readonly string[] {
  // If it throws for every value, the reason is not this value.
  if (!entries) return transformProperty(name, SELF, { direction, options: AS_IT_IS }) ? [CHANGED] : [];
  const [key, transformed] = entries.find(([each]) => each === name) ?? entries[0] ?? [name];
  if (key !== name) return [`is renamed "${key}" by class-transformer, and here is not`];
  return toComparableJson(transformed) === toComparableJson(value) ? [] : [CHANGED];
}

/** The value as JSON, in which neither the class of an object nor undefined instead of null makes a difference. */
function toComparableJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_, each: unknown) =>
    typeof each === 'bigint' ? String(each) : each,
  );
}

/** The properties that a class accepts under other names only: these names are read of a probe that does not have them. */
function renamedBy(names: readonly string[], direction: Direction): ReadonlySet<string> {
  const read = new Set<string>();
  if (direction.effect === 'taken') {
    const probe = probeOf(names, direction, { read, valueOf: () => SELF });
    attempt(() => direction.transform(probe, AS_IT_IS));
  }
  const others = [...read].filter((name) => !names.includes(name));
  return new Set(
    others.flatMap((name) =>
      (transformProperty(name, null, { direction, options: AS_IT_IS }) ?? []).flatMap(([key]) =>
        key !== name && names.includes(key) ? key : [],
      ),
    ),
  );
}

/** The result of a function that may run code of the application; undefined if that throws. */
function attempt(transform: () => object): object | undefined {
  try {
    return transform();
  } catch {
    return undefined;
  }
}

interface ProbeRules {
  /** Collects the names that are read. */
  readonly read?: Set<string>;
  readonly valueOf: (name: string) => unknown;
}

/** An object with these properties that runs no code of its class when it is read. */
function probeOf(names: readonly string[], direction: Direction, { read, valueOf }: ProbeRules): object {
  const described = { configurable: true, enumerable: true, writable: true, value: undefined };
  const probe: object = new Proxy(Object.create(direction.prototype) as object, {
    ownKeys: () => [...names],
    getOwnPropertyDescriptor: () => described,
    get: (target, name) => {
      if (name === 'constructor') return direction.constructed;
      // class-transformer looks for a promise in every object.
      if (typeof name === 'symbol' || (name === 'then' && !names.includes(name)))
        return Reflect.get(target, name) as unknown;
      read?.add(name);
      const value = valueOf(name);
      return value === SELF ? probe : value;
    },
  });
  return probe;
}
