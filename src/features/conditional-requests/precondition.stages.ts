import { validatorColumnsOf, validatorValuesIn } from '../../core/contracts/conditional.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import {
  MalformedRequest,
  NotFound,
  PreconditionFailed,
  PreconditionRequired,
} from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { ALWAYS, conjunction, equals, NEVER } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Precondition } from '../../core/query/plan.js';
import type { Column } from '../../core/schema/column.js';
import { MODIFIED_SETTLES } from '../../core/schema/limits.js';
import type { Operation } from '../../core/schema/operation.js';
import type { Resource } from '../../core/schema/resource.js';
import { writeJson } from '../../core/values/exact-numbers.js';
import { objectCondition } from '../../request/plan/row-conditions.js';
import { represent } from '../../request/represent-row.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import {
  parseHttpDate,
  etagFor,
  etagIn,
  objectView,
  parseEntityTags,
  versionIn,
  viewToRead,
} from './validators.js';
import type { EntityTag, HeaderOf, ObjectView } from './validators.js';

const CHANGING_OPERATIONS: readonly Operation[] = ['update', 'partialUpdate', 'destroy', 'restore', 'purge'];

const WRITE_CONDITIONS = ['if-match', 'if-unmodified-since'];

/**
 * Reads `If-Match`, `If-None-Match` and `If-Unmodified-Since` of a request that changes one object of a model with entity
 * tags.
 */
export function readPrecondition(
  resource: Resource,
  operation: Operation,
  adapter: DataAdapter,
): readonly Stage[] {
  if (!resource.conditional || !CHANGING_OPERATIONS.includes(operation)) return [];
  return [
    async (context) => {
      context.precondition = await preconditionOf(context, adapter);
    },
  ];
}

/** Checks the precondition before a method of the application that replaces a write. Throws 404, 412, 428. */
export function assertPrecondition(adapter: DataAdapter): Stage {
  const preconditions = new Preconditions(adapter);
  return (context) =>
    context.precondition ? preconditions.assertMet(context, objectCondition(context)) : undefined;
}

/** Whether the request has a condition on the state of one object. */
export function hasWriteCondition(context: RestContext): boolean {
  return (
    context.route.resource.conditional !== undefined &&
    WRITE_CONDITIONS.some((name) => context.header(name) !== undefined)
  );
}

/** Entity tags are those of the representation that the caller reads, whatever the response to the write contains. */
async function preconditionOf(context: RestContext, adapter: DataAdapter): Promise<Precondition | undefined> {
  const { resource, rows } = await viewToRead(context);
  const reading = context.fork({ resource });
  const view = objectView(reading, adapter);
  const stateOf = (row: Row): string =>
    etagFor(view, validatorValuesIn(row, validatorColumnsOf(resource)), () =>
      writeJson(represent(row, reading)),
    );
  const precondition = planPrecondition((name) => context.header(name), { view, stateOf }, Date.now());
  const compares =
    precondition && (precondition.where.kind !== 'always' || precondition.expected !== undefined);
  return compares === true
    ? { ...precondition, where: conjunction([precondition.where, rows]) }
    : precondition;
}

/** Explains why an object was not written. It decides nothing: the write itself checks the precondition. */
export class Preconditions {
  constructor(private readonly adapter: DataAdapter) {}

  /** Throws 404, or the error of the precondition. `where` selects the object. */
  async assertMet({ resource, precondition }: RestContext, where: Condition): Promise<void> {
    if (!(await this.adapter.exists({ resource, where, forWriting: true }))) throw new NotFound();
    if (precondition && !(await this.isMet(precondition, resource, where))) throw precondition.rejection();
  }

  /** The reason why nothing was written: without a precondition, the object does not exist. */
  async explainFailure({ resource, precondition }: RestContext, where: Condition): Promise<Error> {
    return precondition && (await this.adapter.exists({ resource, where, forWriting: true }))
      ? precondition.rejection()
      : new NotFound();
  }

  private async isMet(
    { where: condition, expected }: Precondition,
    resource: Resource,
    where: Condition,
  ): Promise<boolean> {
    if (
      condition.kind !== 'always' &&
      !(await this.adapter.exists({ resource, where: conjunction([where, condition]), forWriting: true }))
    )
      return false;
    if (!expected) return true;
    const row = await this.adapter.read(
      { kind: 'retrieve', resource: expected.resource, where, forWriting: true },
      'rows',
    );
    return row !== undefined && expected.holds(row);
  }
}

/** How the caller sees the object that is about to be written, and how the state of a row is computed. */
interface WrittenObject {
  readonly view: ObjectView;
  readonly stateOf: (row: Row) => string;
}

/**
 * The precondition of PUT, PATCH or DELETE (RFC 9110, 13.1). Versions and dates become conditions of the statement; a tag
 * of the content is compared under the lock of the row. Undefined without a precondition.
 */
function planPrecondition(header: HeaderOf, object: WrittenObject, now: number): Precondition | undefined {
  const { conditional } = object.view.resource;
  const [match, none] = [header('if-match'), header('if-none-match')];
  const preconditions: Precondition[] = [];
  if (match !== undefined) preconditions.push(matching('If-Match', match, object));
  else preconditions.push(...unmodifiedSince(header('if-unmodified-since'), object, now));
  if (preconditions.length === 0 && conditional?.require === true)
    return neverMet(() => new PreconditionRequired());
  if (none !== undefined) preconditions.push(matching('If-None-Match', none, object));
  return preconditions.length === 0 ? undefined : combinePreconditions(preconditions, object);
}

function matching(name: 'If-Match' | 'If-None-Match', text: string, object: WrittenObject): Precondition {
  const tags = parseEntityTags(text);
  if (tags === undefined)
    return neverMet(() => new MalformedRequest(`The ${name} header is no list of entity tags: "…", or *.`));
  const wanted = name === 'If-Match';
  if (tags === 'any') return wanted ? { where: ALWAYS, rejection: failed } : neverMet(failed);
  return wanted
    ? matchAny(
        tags.filter(({ weak }) => !weak),
        object,
      )
    : matchNone(tags, object);
}

function matchAny(tags: readonly EntityTag[], { view, stateOf }: WrittenObject): Precondition {
  if (view.versioned) return { where: hasVersion(tags, view), rejection: failed };
  const states = new Set(tags.map(({ opaque }) => etagIn(opaque)));
  return states.size === 0 ? neverMet(failed) : expecting(view, (row) => states.has(stateOf(row)));
}

function matchNone(tags: readonly EntityTag[], { view, stateOf }: WrittenObject): Precondition {
  if (view.versioned) return { where: { kind: 'not', condition: hasVersion(tags, view) }, rejection: failed };
  const states = new Set(tags.map(({ opaque }) => etagIn(opaque)));
  return expecting(view, (row) => !states.has(stateOf(row)));
}

function hasVersion(tags: readonly EntityTag[], view: ObjectView): Condition {
  const { version } = validatorColumnsOf(view.resource);
  const values = version
    ? tags.flatMap(({ opaque }) => versionOf(versionIn(opaque, view), version) ?? [])
    : [];
  const [value, ...more] = values;
  if (!version || value === undefined) return NEVER;
  return more.length === 0
    ? equals(version, value)
    : {
        kind: 'compare',
        operand: { joinPath: [], column: version },
        lookup: 'in',
        value: [...new Set(values)],
      };
}

/** A version outside of the range of its column matches no row: the database would reject it. */
function versionOf(text: string | undefined, { type }: Column): Json | undefined {
  if (text === undefined) return undefined;
  if (type.kind === 'integer') return Number(text) <= type.max ? Number(text) : undefined;
  return type.kind === 'bigint' && BigInt(text) <= type.max ? text : undefined;
}

/** A date that may have been sent as `Last-Modified` covers its whole second; in a more recent one, rows may still change. */
function unmodifiedSince(
  text: string | undefined,
  { view }: WrittenObject,
  now: number,
): readonly Precondition[] {
  const { modified } = validatorColumnsOf(view.resource);
  const date = text === undefined ? undefined : parseHttpDate(text, now);
  if (!modified || date === undefined) return [];
  const isSettled = date <= now - MODIFIED_SETTLES * 1000;
  const value = canonicalInstant(isSettled ? date + 1000 : date, modified);
  return [
    {
      where: { kind: 'compare', operand: { joinPath: [], column: modified }, lookup: 'lt', value },
      rejection: failed,
    },
  ];
}

function canonicalInstant(instant: number, { type }: Column): string {
  const digits = type.kind === 'datetime' ? type.digits : 3;
  return new Date(instant).toISOString().replace('Z', `${'0'.repeat(digits - 3)}Z`);
}

function failed(): PreconditionFailed {
  return new PreconditionFailed();
}

function neverMet(rejection: Precondition['rejection']): Precondition {
  return { where: NEVER, rejection };
}

function expecting({ resource }: ObjectView, holds: (row: Row) => boolean): Precondition {
  return { where: ALWAYS, rejection: failed, expected: { resource, holds } };
}

/** The first precondition that cannot be met determines the error. */
function combinePreconditions(preconditions: readonly Precondition[], { view }: WrittenObject): Precondition {
  const expected = preconditions.flatMap((each) => each.expected ?? []);
  return {
    where: conjunction(preconditions.map(({ where }) => where)),
    rejection:
      (preconditions.find(({ where }) => where.kind === 'never') ?? preconditions[0])?.rejection ?? failed,
    ...(expected.length === 0
      ? {}
      : {
          expected: {
            resource: view.resource,
            holds: (row: Row) => expected.every((each) => each.holds(row)),
          },
        }),
  };
}
