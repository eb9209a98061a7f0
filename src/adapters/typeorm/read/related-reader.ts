import type { RelatedPlan } from '../../../core/query/plan.js';
import type { EntityManager, QueryRunner } from 'typeorm';
import type { Row } from '../../../core/contracts/serializer.js';
import type { RelatedRow } from '../../../core/data-adapter.js';
import { keyText } from '../../../core/values/keys.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { decodeRecord, Scope } from '../../../sql/query-scope.js';
import { relatedStatement } from '../../../sql/related-query.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../../../execution/connection/connection-manager.js';
import type { RowReader } from './row-reader.js';

export interface RelatedReaderTools {
  /** The reader of the plan's resource. */
  readonly reader: RowReader;
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly connections: ConnectionManager<QueryRunner>;
}

/** The maximum number of parents per statement. Databases limit the number of parameters, and a composite key needs an OR alternative. */
const MAX_PARENTS = { single: 10_000, composite: 1_000 };

/** Reads the related rows of several parents, with one statement for up to `MAX_PARENTS` of them. */
export async function readRelated(
  plan: RelatedPlan,
  tools: RelatedReaderTools,
): Promise<readonly RelatedRow[]> {
  const step = plan.parent.identity.length === 1 ? MAX_PARENTS.single : MAX_PARENTS.composite;
  const related: RelatedRow[] = [];
  for (let at = 0; at < plan.identities.length && related.length < plan.limit; at += step) {
    related.push(
      ...(await readOnce(
        { ...plan, identities: plan.identities.slice(at, at + step), limit: plan.limit - related.length },
        tools,
      )),
    );
  }
  return related;
}

/** A row that belongs to several of these parents is converted once. */
async function readOnce(
  plan: RelatedPlan,
  { reader, tables, dialect, connections }: RelatedReaderTools,
): Promise<readonly RelatedRow[]> {
  const scope = Scope.begin(dialect, tables, plan.resource);
  const expressions = reader.selection.expressions(scope);
  const statement = relatedStatement(plan, scope, expressions);
  const { identity } = plan.parent;
  const identityText = (record: readonly unknown[]): string => keyText(reader.selection.readIdentity(record));
  const read = async (runner: QueryRunner): Promise<readonly RelatedRow[]> => {
    const records = await connections.records(runner, statement);
    const first = new Map(records.map((record) => [identityText(record), record]));
    const distinct = await reader.rowsOf([...first.values()], runner);
    const rows = new Map<string, Row>(distinct.map((row) => [keyText(row.identity ?? row.key), row]));
    return records.flatMap((record) => {
      const row = rows.get(identityText(record));
      const parent = record.slice(expressions.length, expressions.length + identity.length);
      return row ? [{ identity: decodeRecord(parent, identity, dialect), row }] : [];
    });
  };
  const within = (plan.transaction as EntityManager | undefined)?.queryRunner;
  if (within) return read(within);
  return connections.reading(plan.forWriting ? 'primary' : 'replica', read, plan.requester);
}
