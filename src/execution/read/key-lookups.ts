import { addErrors, emptyFieldErrors, errorAt, isItemErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../core/errors/rest-exception.js';
import type { ExistsPlan, KeyCheck, ParentPlan, ParentValues } from '../../core/query/plan.js';
import { noSuchObject } from '../../core/values/keys.js';
import { itemError } from '../../core/values/related-keys.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import { compileWhere } from '../../sql/compile-where.js';
import { existsStatement } from '../../sql/select-query.js';
import { decodeRecord, readColumns, selectList, Scope } from '../../sql/query-scope.js';
import type { Statement } from '../../sql/statement.js';
import { labelStatement, MAX_PARAMETERS } from '../../sql/statement.js';
import { StatementCache } from '../../sql/statement-cache.js';
import type { TableRegistry } from '../../sql/table-names.js';
import type { ReadFrom, Session } from '../port.js';
import type { ConnectionManager } from '../connection/connection-manager.js';

/** The related row's columns that a foreign key refers to, by the path of the field. */
export type ReferencedValues = ReadonlyMap<string, readonly Json[]>;

/** A key of a body, or a value that refers to a row. */
export type LookedUpKey = Omit<KeyCheck, 'exact'>;

/** The result of looking up the keys of a body: the referenced columns of each, or an error of its field. */
export interface KeyLookup {
  readonly referenced: ReferencedValues;
  readonly errors: FieldErrors;
}

/**
 * The maximum number of keys in one statement: each is a subquery, and databases limit the number of result columns.
 */
const MAX_KEYS = 100;

/** The same for one body, of which only lists of keys have so many. */
const MOST_KEYS = 500;

/** The maximum number of keys in a cached statement, as bodies of single objects have them. */
const MAX_CACHED_KEYS = 8;

/** Looks up rows to which others refer: a parent in the URL, keys in a body. */
export class KeyLookups<S extends Session> {
  private readonly shapes: StatementCache;

  constructor(
    private readonly tables: TableRegistry,
    private readonly dialect: Dialect,
    private readonly connections: ConnectionManager<S>,
  ) {
    this.shapes = new StatementCache(dialect);
  }

  async findParent(plan: ParentPlan): Promise<ParentValues | undefined> {
    const scope = Scope.begin(this.dialect, this.tables, plan.resource);
    const columns = plan.on.map(({ localColumn }) => localColumn);
    const list = selectList(readColumns(columns, scope));
    const where = compileWhere(plan.where, scope);
    const [record] = await this.connections.read(
      { sql: `SELECT ${list} FROM ${scope.from()} WHERE ${where}`, parameters: scope.parameters },
      sourceOf(plan.forWriting),
      plan.requester,
    );
    return record && decodeRecord(record, columns, this.dialect);
  }

  async exists(plan: ExistsPlan): Promise<boolean> {
    const found = await this.connections.read(
      existsStatement(plan, this.dialect, this.tables),
      sourceOf(plan.forWriting),
      plan.requester,
    );
    return found.length > 0;
  }

  /**
   * Looks up all keys in one statement: on the transaction's connection if there is one, otherwise on the primary,
   * where a row that the client has just created is visible.
   */
  async lookUp(checks: readonly LookedUpKey[], session?: S): Promise<KeyLookup> {
    return lookupOf(checks, await this.findReferenced(checks, session));
  }

  /** As `lookUp` for several bodies, with as few statements as possible. */
  async lookUpEach(bodies: readonly (readonly LookedUpKey[])[]): Promise<readonly KeyLookup[]> {
    const checks = bodies.flat();
    const found: (readonly Json[] | undefined)[] = [];
    for (let at = 0; at < checks.length; at += MAX_KEYS)
      found.push(...(await this.findReferenced(checks.slice(at, at + MAX_KEYS))));
    let at = 0;
    return bodies.map((body) => lookupOf(body, found.slice(at, (at += body.length))));
  }

  /** The referenced columns for each key, or undefined if there is no such row. */
  private async findReferenced(
    checks: readonly LookedUpKey[],
    session?: S,
  ): Promise<readonly (readonly Json[] | undefined)[]> {
    if (checks.length === 0) return [];
    const statement = checks.length > MOST_KEYS ? undefined : this.statement(checks);
    if (!statement || (checks.length > 1 && statement.parameters.length > MAX_PARAMETERS)) {
      const half = Math.ceil(checks.length / 2);
      const first = await this.findReferenced(checks.slice(0, half), session);
      return [...first, ...(await this.findReferenced(checks.slice(half), session))];
    }
    const [record = []] = await (session
      ? this.connections.records(session, statement)
      : this.connections.read(statement, 'primary'));
    let at = 0;
    return checks.map(({ relation: { on } }) => {
      const raw = record.slice(at, (at += on.length));
      return raw.some((value) => value === null || value === undefined)
        ? undefined
        : decodeRecord(
            raw,
            on.map(({ referencedColumn }) => referencedColumn),
            this.dialect,
          );
    });
  }

  private statement(checks: readonly LookedUpKey[]): Statement {
    if (checks.length > MAX_CACHED_KEYS) return this.compile(checks);
    const shape = checks.map(({ relation: { target, on } }) => [
      target.id,
      ...on.map(({ referencedColumn }) => referencedColumn.id),
    ]);
    return this.shapes.of(
      JSON.stringify(shape),
      checks.flatMap(({ relation: { on }, where }) => on.map(() => where)),
      () => this.compile(checks),
    );
  }

  private compile(checks: readonly LookedUpKey[]): Statement {
    const first = checks[0];
    if (!first) throw new Error('No keys to look up');
    const outer = Scope.begin(this.dialect, this.tables, first.relation.target);
    const columns = checks.flatMap((check) =>
      check.relation.on.map((pair) => {
        const scope = outer.within(check.relation.target);
        const column = this.dialect.read(scope.own(pair.referencedColumn), pair.referencedColumn.type);
        const where = compileWhere(check.where, scope);
        return `(SELECT ${column} FROM ${scope.from()} WHERE ${where})`;
      }),
    );
    return labelStatement(
      { sql: `SELECT ${selectList(columns)}`, parameters: outer.parameters },
      { operation: 'lookup', resource: first.relation.target },
      checks.map(({ relation, where }) => ({ resource: relation.target, where })),
    );
  }
}

/** A replica may not have the client's own latest writes yet. */
function sourceOf(forWriting: boolean): ReadFrom {
  return forWriting ? 'primary' : 'replica';
}

function lookupOf(
  checks: readonly LookedUpKey[],
  found: readonly (readonly Json[] | undefined)[],
): KeyLookup {
  const errors = emptyFieldErrors();
  const referenced = new Map<string, readonly Json[]>();
  for (const [index, check] of checks.entries()) {
    const values = found[index];
    if (values && !check.forbidden) {
      if (check.item === undefined) referenced.set(check.path.join('.'), values);
    } else if (values || !check.forbidden) {
      const message = noSuchObject(check.key);
      if (check.item === undefined) addErrors(errors, errorAt(check.path, message));
      else addItemError(errors, check.path, itemError(check.item, message));
    }
  }
  return { referenced, errors };
}

/** Adds a message to those of a list. */
function addItemError(errors: FieldErrors, [name = '', ...rest]: readonly string[], message: string): void {
  const known = (errors[name] ??= rest.length > 0 ? emptyFieldErrors() : []);
  if (!Array.isArray(known)) addItemError(known, rest, message);
  else if (!isItemErrors(known) && known.length < MAX_ITEM_ERRORS) known.push(message);
}

/** The maximum number of messages for the keys of one list. */
const MAX_ITEM_ERRORS = 20;
