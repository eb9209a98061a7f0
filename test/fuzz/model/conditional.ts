import type { Expected } from './expected.js';
import { detailed, Refusal } from './expected.js';

/** What a tag names: an entity, the fields that are shown, and the object. */
export type Content = string;

/** Entity tags as they have been told: one for each state of an object in a view (docs/conditional-requests.md). */
export class Tags {
  /** By object and tag. */
  private readonly contents = new Map<string, Content>();
  private readonly told = new Set<string>();
  private readonly tags = new Map<Content, string>();
  /** The last tag that each object has been told with. */
  readonly latest = new Map<string, string>();

  /** The tag that an answer must have. One that nobody has seen is learned. */
  expected(
    content: Content,
    { given, object }: { readonly given: string | undefined; readonly object: string },
  ): string {
    const known = this.tags.get(content);
    if (known !== undefined) return known;
    if (given === undefined || !/^"[^"]+"$/.test(given)) return 'an entity tag';
    if (this.contents.has(`${object} ${given}`)) return 'a tag that no other state has';
    this.tags.set(content, given);
    this.contents.set(`${object} ${given}`, content);
    this.told.add(given);
    this.latest.set(object, given);
    return given;
  }

  known(): string[] {
    return [...this.told];
  }

  /** Undefined where the tag of this state has been told nowhere: an object has the same one at each of its URLs, and nobody can compute it. */
  isOf(
    tag: string,
    { object, content }: { readonly object: string; readonly content: Content },
  ): boolean | undefined {
    const known = this.tags.get(content);
    if (known !== undefined) return known === tag;
    return MADE_UP.test(tag) || this.contents.has(`${object} ${tag}`) ? false : undefined;
  }
}

/** No tag of the product's is as short as those that the generator makes up. */
const MADE_UP = /^(?!"[^"]{4,}"$)/;

interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The status that was given. */
  readonly given: number;
}

const LIST = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

/** Throws 412, 428 or 304, as the conditions of a request say of the object as it is. */
export function checkConditions(
  tags: Tags,
  { method, headers, given }: Asked,
  object: {
    readonly object: string;
    readonly content: Content;
    readonly isRequired: boolean;
    readonly headers: Expected['headers'];
  },
): void {
  const isRead = method === 'GET' || method === 'HEAD';
  const match = headers['If-Match'];
  const noneMatch = headers['If-None-Match'];
  if (!isRead && object.isRequired && match === undefined)
    throw detailed(428, 'Precondition required: send If-Match with the ETag of the object.');
  if (!isRead) refuseMalformed([match, noneMatch]);
  const isNamed = (told: readonly string[], isTold: boolean): boolean =>
    told.includes('*') || told.some((tag) => tags.isOf(tag, object) ?? isTold);
  if (match !== undefined && !isNamed(strong(match), given !== 412)) throw failed();
  if (noneMatch === undefined || !isNamed(weak(noneMatch), given === (isRead ? 304 : 412))) return;
  if (!isRead) throw failed();
  throw new Refusal({ status: 304, bodies: [], headers: { ...object.headers, 'content-type': null } });
}

function refuseMalformed(lists: readonly (string | undefined)[]): void {
  if (lists.some((each) => each !== undefined && each !== '*' && !LIST.test(each)))
    throw new Refusal({ status: 400, bodies: [], anyBody: true });
}

function failed(): Refusal {
  return detailed(412, 'Precondition failed: the object is not as the request says.');
}

function strong(list: string): string[] {
  if (list === '*') return [list];
  return LIST.test(list) ? list.split(',').map((tag) => tag.trim()) : [];
}

function weak(list: string): string[] {
  return strong(list).map((tag) => tag.replace(/^W\//, ''));
}
