import type { RelatedPlan } from '../../core/query/plan.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { RelatedRow } from '../../core/data-adapter.js';
import { keyText } from '../../core/values/keys.js';
import { decodeRecord } from '../../sql/query-scope.js';
import { relatedStatement } from '../../sql/related-query.js';
import type { Session } from '../port.js';
import type { RowReader } from './row-reader.js';

/** The maximum number of parents per statement. Databases limit the number of parameters, and a composite key needs an OR alternative. */
const MAX_PARENTS = { single: 10_000, composite: 1_000 };

/**
 * Reads the related rows of several parents, with one statement for up to `MAX_PARENTS` of them.
 * @param session that of the transaction in which they were read, if any.
 */
export async function readRelated<S extends Session>(
  plan: RelatedPlan,
  reader: RowReader<S>,
  session: S | undefined,
): Promise<readonly RelatedRow[]> {
  const step = plan.parent.identity.length === 1 ? MAX_PARENTS.single : MAX_PARENTS.composite;
  const related: RelatedRow[] = [];
  for (let at = 0; at < plan.identities.length && related.length < plan.limit; at += step) {
    related.push(
      ...(await readOnce(
        { ...plan, identities: plan.identities.slice(at, at + step), limit: plan.limit - related.length },
        reader,
        session,
      )),
    );
  }
  return related;
}

/** A row that belongs to several of these parents is converted once. */
async function readOnce<S extends Session>(
  plan: RelatedPlan,
  reader: RowReader<S>,
  session: S | undefined,
): Promise<readonly RelatedRow[]> {
  const { dialect, connections } = reader.tools;
  const scope = reader.beginScope();
  const expressions = reader.selection.expressions(scope);
  const statement = relatedStatement(plan, scope, expressions);
  const { identity } = plan.parent;
  const identityText = (record: readonly unknown[]): string => keyText(reader.selection.readIdentity(record));
  const read = async (within: S): Promise<readonly RelatedRow[]> => {
    const records = await connections.records(within, statement);
    const first = new Map(records.map((record) => [identityText(record), record]));
    const distinct = await reader.rowsOf([...first.values()], within);
    const rows = new Map<string, Row>(distinct.map((row) => [keyText(row.identity ?? row.key), row]));
    return records.flatMap((record) => {
      const row = rows.get(identityText(record));
      const parent = record.slice(expressions.length, expressions.length + identity.length);
      return row ? [{ identity: decodeRecord(parent, identity, dialect), row }] : [];
    });
  };
  if (session) return read(session);
  return connections.reading(plan.forWriting ? 'primary' : 'replica', read, plan.requester);
}
