import type { RelatedPlan } from '../../../core/query/plan.js';
import type { QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { RelatedRow } from '../../../core/data-adapter.js';
import { keyText } from '../../../core/values/keys.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { decodeRecord } from '../../../sql/select-columns.js';
import { relatedStatement } from '../../../sql/related-query.js';
import { Scope } from '../../../sql/query-scope.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { RowReader } from './row-reader.js';

export interface RelatedReading {
  /** Of the plan's resource. */
  readonly reader: RowReader;
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager;
}

/** Parents of one statement: it has a bounded number of parameters, and each composite key is an alternative of its own. */
const AT_ONCE = { single: 10_000, composite: 1_000 };

/** Rows that belong to others. As many parents as an answer has by default are one statement. */
export async function readRelated(
  plan: RelatedPlan,
  reading: RelatedReading,
): Promise<readonly RelatedRow[]> {
  const step = plan.parent.identity.length === 1 ? AT_ONCE.single : AT_ONCE.composite;
  const related: RelatedRow[] = [];
  for (let at = 0; at < plan.identities.length && related.length < plan.limit; at += step) {
    related.push(
      ...(await readOnce(
        { ...plan, identities: plan.identities.slice(at, at + step), limit: plan.limit - related.length },
        reading,
      )),
    );
  }
  return related;
}

/** A row that belongs to several of these parents is made once. */
async function readOnce(
  plan: RelatedPlan,
  { reader, tables, dialect, connections }: RelatedReading,
): Promise<readonly RelatedRow[]> {
  const scope = Scope.begin(dialect, tables, plan.resource);
  const expressions = reader.selection.expressions(scope);
  const statement = relatedStatement(plan, scope, expressions);
  const { identity } = plan.parent;
  const isOwn = (record: readonly unknown[]): string => keyText(reader.selection.readIdentity(record));
  const read = async (runner: QueryRunner): Promise<readonly RelatedRow[]> => {
    const records = await connections.records(runner, statement);
    const first = new Map(records.map((record) => [isOwn(record), record]));
    const made = await reader.rowsOf([...first.values()], runner);
    const rows = new Map<string, Row>(made.map((row) => [keyText(row.identity ?? row.key), row]));
    return records.flatMap((record) => {
      const row = rows.get(isOwn(record));
      const parent = record.slice(expressions.length, expressions.length + identity.length);
      return row ? [{ identity: decodeRecord(parent, identity, dialect), row }] : [];
    });
  };
  return connections.reading(plan.forWriting ? 'primary' : 'replica', read, plan.requester);
}
