import type { Json } from '../errors/rest-exception.js';

/**
 * JSON keeps every digit of a number, JavaScript 53 bits. Code of the application sees JavaScript's numbers; beside them, the object
 * or list that holds a number remembers its text, which `writeJson` writes as long as the number is the same.
 */
const TEXTS = new WeakMap<object, Map<PropertyKey, string>>();

/** A number by itself, without an object that holds it. */
export class ExactNumber extends Number {
  constructor(readonly text: string) {
    super(text);
  }

  override toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return marks ? mark(this.text) : this.valueOf();
  }
}

/** A number that JavaScript may write in another form, behind what stands before a number; also in strings, which is harmless. */
const MAY_CHANGE = /(?:^|[[:,\s])(?:-0(?![.\d])|-?(?:\d[\d.]{15}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)|0\.0{6}))/;

/** Whether JavaScript writes a number of JSON in another form. */
function changes(text: string): boolean {
  return String(Number(text)) !== text;
}

/** As `JSON.parse`, with the texts of numbers that JavaScript would change. A number by itself is then an `ExactNumber`. */
export function parseJson(text: string): Json {
  const value = JSON.parse(text) as Json;
  if (!MAY_CHANGE.test(text)) return value;
  if (typeof value === 'number')
    return changes(text.trim()) ? (new ExactNumber(text.trim()) as unknown as Json) : value;
  rememberNumbers(value, text);
  return value;
}

/**
 * Remembers the numbers of a valid JSON text in the value that it was parsed to. Members that the value does not have, and
 * numbers that differ, are left out: parsers of applications may change what they read.
 */
export function keepNumbers(value: unknown, text: string): void {
  if (MAY_CHANGE.test(text)) rememberNumbers(value, text);
}

/** A container of the text: `holder` is the container of the value at the same place. */
interface Place {
  readonly holder: object | undefined;
  readonly isList: boolean;
  key: string | number;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},]|-?\d[\d.eE+-]*/g;

function rememberNumbers(value: unknown, text: string): void {
  const reader = new NumberReader(value);
  for (const [token] of text.matchAll(TOKEN)) reader.read(token);
}

/** Reads the tokens of a JSON text beside the value that it was parsed to. */
class NumberReader {
  private readonly places: Place[] = [];
  private awaitsKey = false;

  constructor(private readonly value: unknown) {}

  read(token: string): void {
    switch (token[0]) {
      case '{':
      case '[':
        this.open(token === '[');
        break;
      case '}':
      case ']':
        this.places.pop();
        this.awaitsKey = false;
        break;
      case ',':
        this.next();
        break;
      case '"':
        this.readText(token);
        break;
      default:
        this.readNumber(token);
    }
  }

  private open(isList: boolean): void {
    const place = this.places.at(-1);
    const opened = place ? memberAt(place) : this.value;
    this.places.push({ holder: isContainer(opened) ? opened : undefined, isList, key: 0 });
    this.awaitsKey = !isList;
  }

  private next(): void {
    const place = this.places.at(-1);
    if (place?.isList === true) place.key = Number(place.key) + 1;
    else this.awaitsKey = true;
  }

  private readText(token: string): void {
    const place = this.places.at(-1);
    if (place && this.awaitsKey) place.key = JSON.parse(token) as string;
    this.awaitsKey = false;
  }

  /** Of a member that occurs twice the last one counts. */
  private readNumber(text: string): void {
    const place = this.places.at(-1);
    if (!place?.holder) return;
    if (!changes(text)) TEXTS.get(place.holder)?.delete(String(place.key));
    else if (Object.is(memberAt(place), Number(text))) {
      keepNumber(place.holder, place.key, text);
      for (const { holder } of this.places) if (holder && !TEXTS.has(holder)) TEXTS.set(holder, new Map());
    }
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

function memberAt({ holder, key }: Place): unknown {
  return holder && Object.hasOwn(holder, key) ? (holder as Record<PropertyKey, unknown>)[key] : undefined;
}

/** Remembers the text of a member that is a number. */
function keepNumber(holder: object, key: string | number, text: string): void {
  const texts = TEXTS.get(holder) ?? new Map<PropertyKey, string>();
  TEXTS.set(holder, texts.set(String(key), text));
  if (!Object.hasOwn(holder, 'toJSON'))
    Object.defineProperty(holder, 'toJSON', { value: toJsonWithTexts, configurable: true, writable: true });
  // A member of this name cannot be a method beside it.
  else if (holder.propertyIsEnumerable('toJSON'))
    (holder as Record<PropertyKey, unknown>)[key] = new ExactNumber(text);
}

/** The texts of numbers in the JSON that is being written; undefined elsewhere. */
let marks: string[] | undefined;

interface MarkFormat {
  readonly prefix: string;
  /** Finds marks in JSON: the group is the index of the text. */
  readonly pattern: RegExp;
}

let format: MarkFormat | undefined;

/** Created with the first mark, because Node loads Web Crypto when it is first used. Not a UUID, which browsers make in secure contexts only. */
function markFormat(): MarkFormat {
  if (format) return format;
  const prefix = `number ${globalThis.crypto.getRandomValues(new Uint32Array(4)).join('-')} `;
  return (format = { prefix, pattern: new RegExp(`"${prefix}(\\d+)"`, 'g') });
}

function mark(text: string): string {
  return `${markFormat().prefix}${(marks?.push(text) ?? 0) - 1}`;
}

function toJsonWithTexts(this: object): object {
  if (!marks) return this;
  const copy = (Array.isArray(this) ? [...(this as unknown[])] : { ...this }) as Record<PropertyKey, unknown>;
  for (const [key, text] of TEXTS.get(this) ?? [])
    if (Object.is(copy[key], Number(text))) copy[key] = mark(text);
  return copy;
}

/** As `JSON.stringify`, with the texts of numbers that are remembered, unless code of the application writes them as parts of texts. */
export function writeJson(value: unknown, indent?: number): string {
  const outer = marks;
  const texts: string[] = (marks = []);
  try {
    const json = JSON.stringify(value, undefined, indent);
    if (texts.length === 0) return json;
    let written = 0;
    const exact = json.replace(markFormat().pattern, (_, index: string) => {
      written++;
      return texts[Number(index)] ?? '';
    });
    if (written === texts.length) return exact;
  } finally {
    marks = outer;
  }
  return JSON.stringify(value, undefined, indent);
}

/** Whether a value is or contains a number whose text is remembered. */
export function hasExactNumbers(value: unknown): boolean {
  return value instanceof ExactNumber || (isContainer(value) && TEXTS.has(value));
}

/** The value of a member: an `ExactNumber` if it is a number whose text is remembered. */
export function exactMember(holder: object, key: string | number): unknown {
  const value = (holder as Record<PropertyKey, unknown>)[key];
  const text = typeof value === 'number' ? TEXTS.get(holder)?.get(String(key)) : undefined;
  return text !== undefined && Object.is(value, Number(text)) ? new ExactNumber(text) : value;
}

/** Sets a member. Of an `ExactNumber` it becomes the number, whose text is remembered. */
export function setMember(holder: object, key: string | number, value: unknown): void {
  (holder as Record<PropertyKey, unknown>)[key] = plainValue(value);
  if (value instanceof ExactNumber) keepNumber(holder, key, value.text);
}

/** A list of values in which each `ExactNumber` is the number, whose text is remembered. */
export function listOf<Value>(values: readonly Value[]): readonly Value[] {
  if (!values.some((value) => value instanceof ExactNumber)) return values;
  const list: Value[] = [];
  values.forEach((value, index) => {
    setMember(list, index, value);
  });
  return list;
}

/** A copy of an object, or of some of its members, which remembers the same texts. */
export function copyOf<Copy extends object>(original: object, copy: Copy): Copy {
  for (const [key, text] of TEXTS.get(original) ?? [])
    if (Object.hasOwn(copy, key)) keepNumber(copy, String(key), text);
  return copy;
}

/** Whether two values are the same JSON, with members in any order, and numbers of the same text. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one instanceof ExactNumber) return other instanceof ExactNumber && one.text === other.text;
  if (!isContainer(one) || !isContainer(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) => Object.hasOwn(other, key) && isSameJson(exactMember(one, key), exactMember(other, key)),
    )
  );
}

/**
 * Whether a value is what a driver makes of the JSON. Drivers round numbers, except that mysql2 makes texts of integers beyond 53 bits,
 * where Node gives it their source (`JSON.parse` since Node 22).
 */
export function isParsedFrom(json: unknown, value: unknown): boolean {
  if (json instanceof ExactNumber) return Object.is(value, json.valueOf()) || value === json.text;
  if (typeof json === 'number') return Object.is(value, json) || value === unsafeIntegerText(json);
  if (!isContainer(json) || !isContainer(value)) return Object.is(value, json);
  const keys = Object.keys(json);
  return (
    Object.getPrototypeOf(json) === Object.getPrototypeOf(value) &&
    keys.length === Object.keys(value).length &&
    keys.every(
      (key) =>
        Object.hasOwn(value, key) &&
        isParsedFrom(exactMember(json, key), (value as Record<PropertyKey, unknown>)[key]),
    )
  );
}

function unsafeIntegerText(value: number): string | undefined {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? String(value) : undefined;
}

/** The number of a driver's text of an integer that JavaScript would round. */
export function exactInteger(raw: unknown): ExactNumber | undefined {
  return typeof raw === 'string' && /^-?[1-9]\d{15,}$/.test(raw) && changes(raw)
    ? new ExactNumber(raw)
    : undefined;
}

/** The number of an `ExactNumber`, as code of the application sees it. */
export function plainValue(value: unknown): unknown {
  return value instanceof ExactNumber ? value.valueOf() : value;
}
