import type { Expected } from './expected.js';
import { detailed, Refusal } from './expected.js';

/** What an entity tag identifies: an entity, the readable fields, and the object. */
export type Content = string;

/** The entity tags of earlier responses: one for each state of an object in a view (docs/reference/conditional-requests.md). */
export class Tags {
  /** By object and tag. */
  private readonly contents = new Map<string, Content>();
  private readonly told = new Set<string>();
  private readonly tags = new Map<Content, string>();
  /** The last tag of each object. */
  readonly latest = new Map<string, string>();

  /** The expected tag of a response. An unknown one is learned from the response. */
  expected(
    content: Content,
    { given, object }: { readonly given: string | undefined; readonly object: string },
  ): string {
    const known = this.tags.get(content);
    if (known !== undefined) return known;
    if (given === undefined || !/^"[^"]+"$/.test(given)) return 'an entity tag';
    const other = this.contents.get(`${object} ${given}`);
    if (other !== undefined && withoutDeletion(other) !== withoutDeletion(content))
      return 'a tag that no other state has';
    this.tags.set(content, given);
    this.contents.set(`${object} ${given}`, content);
    this.told.add(given);
    this.latest.set(object, given);
    return given;
  }

  known(): string[] {
    return [...this.told];
  }

  /** Undefined if no response has contained the tag of this state. It is the same at all URLs of the object, and cannot be computed. */
  isOf(
    tag: string,
    { object, content }: { readonly object: string; readonly content: Content },
  ): boolean | undefined {
    const known = this.tags.get(content);
    if (known !== undefined) return known === tag;
    const other = this.contents.get(`${object} ${tag}`);
    if (other !== undefined && withoutDeletion(other) === withoutDeletion(content)) return undefined;
    return MADE_UP.test(tag) || other !== undefined ? false : undefined;
  }
}

/** Two deletions may have one date. */
function withoutDeletion(content: Content): string {
  return content.replace(/"@\d+"/, '"@"');
}

/** Tags of the package are longer than those that the generator invents. */
const MADE_UP = /^(?!"[^"]{4,}"$)/;

interface ConditionalRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The status of the response. */
  readonly given: number;
}

const TAG_LIST = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

/** Throws 412, 428 or 304 by the preconditions of a request and the current state of the object. */
export function checkConditions(
  tags: Tags,
  { method, headers, given }: ConditionalRequest,
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
  if (lists.some((each) => each !== undefined && each !== '*' && !TAG_LIST.test(each)))
    throw new Refusal({ status: 400, bodies: [], anyBody: true });
}

function failed(): Refusal {
  return detailed(412, 'Precondition failed: the object is not as the request says.');
}

function strong(list: string): string[] {
  if (list === '*') return [list];
  return TAG_LIST.test(list) ? list.split(',').map((tag) => tag.trim()) : [];
}

function weak(list: string): string[] {
  return strong(list).map((tag) => tag.replace(/^W\//, ''));
}
