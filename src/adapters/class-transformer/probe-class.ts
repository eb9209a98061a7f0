import type { ExposedClass, Exposure } from '../../core/schema/exposure.js';

export interface TransformOptions {
  readonly enableCircularCheck?: boolean;
  readonly exposeUnsetFields?: boolean;
  readonly groups?: string[];
  readonly version?: number;
}

/** The two functions of class-transformer that are asked. What its decorators record is private, and each copy of it has its own. */
export interface ClassTransformer {
  readonly toPlain: (object: object, options: TransformOptions) => object;
  readonly toInstance: (target: object, plain: object, options: TransformOptions) => object;
}

/** One way through class-transformer. */
interface Way {
  readonly transform: (probe: object, options: TransformOptions) => object;
  /** The prototype of probes, and what they say their class is. */
  readonly prototype: object;
  readonly constructed: unknown;
  /** What becomes of a property that is not left out. */
  readonly what: 'shown' | 'taken';
}

interface Passing {
  readonly way: Way;
  readonly options: TransformOptions;
}

/** Every property of some group belongs to one of these. */
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

/** The value of a probe's property that is the probe itself: where circles are looked for it is passed over, and nothing is called with it. */
const SELF = Symbol('the probe itself');

/** What one way makes of a property. */
interface Judgement {
  readonly passes: boolean;
  readonly unheeded: readonly string[];
}

/**
 * What class-transformer makes of the properties of a class: each is passed both ways with values that fit it, in an object whose
 * other properties are passed over.
 */
export function askClass(
  type: ExposedClass,
  samples: ReadonlyMap<string, readonly unknown[]>,
  { toPlain, toInstance }: ClassTransformer,
): ReadonlyMap<string, Exposure> {
  const out: Way = {
    transform: toPlain,
    prototype: type.prototype as object,
    constructed: type,
    what: 'shown',
  };
  const into: Way = {
    transform: (plain, options) => toInstance(instanceOf(type), plain, options),
    prototype: Object.prototype,
    constructed: Object,
    what: 'taken',
  };
  const [shown, taken] = [judgeProperties(samples, out), judgeProperties(samples, into)];
  const found = new Map<string, Exposure>();
  for (const name of samples.keys()) {
    const ways = [shown.get(name) ?? AS_WRITTEN, taken.get(name) ?? AS_WRITTEN] as const;
    const unheeded = [...new Set(ways.flatMap((way) => way.unheeded))];
    if (ways.every(({ passes }) => passes) && unheeded.length === 0) continue;
    found.set(name, { shown: ways[0].passes, taken: ways[1].passes, unheeded });
  }
  return found;
}

const AS_WRITTEN: Judgement = { passes: true, unheeded: [] };

/** Takes what it is given, and runs neither a constructor nor an accessor of the class. */
function instanceOf(type: ExposedClass): object {
  return new Proxy(Object.create(null) as object, {
    get: (target, name) => (name === 'constructor' ? type : (Reflect.get(target, name) as unknown)),
  });
}

/** Properties of which something is said. Of most classes nothing is, which two probes tell. */
function judgeProperties(
  samples: ReadonlyMap<string, readonly unknown[]>,
  way: Way,
): ReadonlyMap<string, Judgement> {
  const names = [...samples.keys()];
  const firsts = new Map([...samples].map(([name, values]) => [name, values[0]]));
  const nulls = new Map(names.map((name) => [name, null]));
  const [first = AS_IT_IS, last = AS_IT_IS] = IN_VERSIONS;
  if (isPassedOn(firsts, { way, options: first }) && isPassedOn(nulls, { way, options: last }))
    return new Map();
  const renamed = renamedBy(names, way);
  return new Map(
    [...samples].map(([name, values]) => [name, renamed.has(name) ? AS_WRITTEN : judge(name, values, way)]),
  );
}

function isPassedOn(values: ReadonlyMap<string, unknown>, { way, options }: Passing): boolean {
  const read = new Set<string>();
  const probe = probeOf([...values.keys()], way, { read, valueOf: (name) => values.get(name) });
  const made = attempt(() => way.transform(probe, options)) as Readonly<Record<string, unknown>> | undefined;
  return (
    made !== undefined &&
    [...values].every(
      ([name, value]) => read.has(name) && name in made && textOf(made[name]) === textOf(value),
    )
  );
}

function judge(name: string, values: readonly unknown[], way: Way): Judgement {
  const outcomes = values.map((value) => passed(name, value, { way, options: AS_IT_IS }));
  const there = outcomes.filter((each) => each !== undefined);
  const isPassed = (options: TransformOptions): boolean =>
    values.some((value) => (passed(name, value, { way, options }) ?? []).length > 0);
  if (there.some(saysSomething)) {
    const changes = values.flatMap((value, index) => changeOf(name, value, { made: outcomes[index], way }));
    const version = IN_VERSIONS.every(isPassed)
      ? []
      : [`is ${way.what} in some versions only, and here in each`];
    return { passes: true, unheeded: [...changes.slice(0, 1), ...version] };
  }
  return { passes: false, unheeded: whyLeftOut(there, { way, isPassed }) };
}

/** What is undefined is left out of JSON. */
function saysSomething(entries: Entries): boolean {
  return entries.some(([, value]) => value !== undefined);
}

/** What decorators say besides of a property that is left out: nothing of one that @Exclude() names. */
function whyLeftOut(
  there: readonly Entries[],
  { way, isPassed }: { readonly way: Way; readonly isPassed: (options: TransformOptions) => boolean },
): readonly string[] {
  if (there.length === 0) return [`makes class-transformer throw, and is not ${way.what}`];
  if (there.some((entries) => entries.length > 0))
    return [`is made undefined by class-transformer (@Transform), and is not ${way.what}`];
  return isPassed(IN_EVERY_GROUP) ? [`is ${way.what} in groups only, and here in none`] : [];
}

type Entries = readonly (readonly [string, unknown])[];

/** What comes of a property with this value, without the others; undefined where that throws. */
function passed(name: string, value: unknown, { way, options }: Passing): Entries | undefined {
  for (const others of [SELF, undefined]) {
    const probe = probeOf([name], way, { valueOf: (each) => (each === name ? value : others) });
    const made = attempt(() => way.transform(probe, options));
    if (made) return Object.entries(made).filter(([, each]) => others === SELF || each !== undefined);
  }
  return undefined;
}

/** How a value comes out otherwise than it went in. */
function changeOf(
  name: string,
  value: unknown,
  { made, way }: { readonly made: Entries | undefined; readonly way: Way },
): readonly string[] {
  // What throws for whatever value is no word about this one.
  if (!made) return passed(name, SELF, { way, options: AS_IT_IS }) ? [CHANGED] : [];
  const [key, found] = made.find(([each]) => each === name) ?? made[0] ?? [name];
  if (key !== name) return [`is renamed "${key}" by class-transformer, and here is not`];
  return textOf(found) === textOf(value) ? [] : [CHANGED];
}

/** As an answer would have it: of which class an object is makes no difference, nor between nothing and null. */
function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, (_, each: unknown) =>
    typeof each === 'bigint' ? String(each) : each,
  );
}

/** Properties that a class takes by other names alone: these are read of a probe that does not have them. */
function renamedBy(names: readonly string[], way: Way): ReadonlySet<string> {
  const read = new Set<string>();
  if (way.what === 'taken') {
    const probe = probeOf(names, way, { read, valueOf: () => SELF });
    attempt(() => way.transform(probe, AS_IT_IS));
  }
  const others = [...read].filter((name) => !names.includes(name));
  return new Set(
    others.flatMap((name) =>
      (passed(name, null, { way, options: AS_IT_IS }) ?? []).flatMap(([key]) =>
        key !== name && names.includes(key) ? key : [],
      ),
    ),
  );
}

/** What a function gives, or nothing where it throws: it may run what the application has written. */
function attempt(transform: () => object): object | undefined {
  try {
    return transform();
  } catch {
    return undefined;
  }
}

interface ProbeRules {
  /** Filled with the names that are read. */
  readonly read?: Set<string>;
  readonly valueOf: (name: string) => unknown;
}

/** An object with these properties that runs nothing of its class, whatever is read of it. */
function probeOf(names: readonly string[], way: Way, { read, valueOf }: ProbeRules): object {
  const described = { configurable: true, enumerable: true, writable: true, value: undefined };
  const probe: object = new Proxy(Object.create(way.prototype) as object, {
    ownKeys: () => [...names],
    getOwnPropertyDescriptor: () => described,
    get: (target, name) => {
      if (name === 'constructor') return way.constructed;
      if (typeof name === 'symbol' || name === 'then') return Reflect.get(target, name) as unknown;
      read?.add(name);
      const value = valueOf(name);
      return value === SELF ? probe : value;
    },
  });
  return probe;
}
