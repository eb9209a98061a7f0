import { NotFound } from '../../core/errors/http-exceptions.js';
import { InexactResult } from '../../core/query/aggregate.js';
import type { AggregatePlan, AggregateResult } from '../../core/query/aggregate.js';
import { aggregateStatement, groupTotals } from '../../sql/aggregate-query.js';
import { existsStatement } from '../../sql/select-query.js';
import type { Records, Statement } from '../../sql/statement.js';
import type { Session } from '../port.js';
import type { ReaderTools } from './row-reader.js';

const NO_GROUPS: AggregateResult = { groups: [], more: false, count: undefined, omits: false };

/** Reads aggregates by one statement; a page without groups needs a second one, if it says how many there are. */
export async function readAggregates<S extends Session>(
  plan: AggregatePlan,
  tools: ReaderTools<S>,
): Promise<AggregateResult> {
  const { dialect, tables, connections } = tools;
  const { requester, parent } = plan.list;
  if (parent) {
    const found = await connections.read(existsStatement(parent, dialect, tables), 'replica', requester);
    if (found.length === 0) throw new NotFound();
  }
  const run = (statement: Statement): Promise<Records | undefined> => runExactly(statement, plan, tools);
  const { read, totals, ...statement } = aggregateStatement(plan, dialect, tables);
  const records = await run(statement);
  if (!records) return NO_GROUPS;
  const groups = records.slice(0, plan.limit).map(read);
  const [first] = records;
  if (first || (!plan.counts && plan.minGroup === undefined))
    return {
      groups,
      more: records.length > plan.limit,
      count: totals.count === undefined ? undefined : Number(first?.[totals.count]),
      omits: totals.least !== undefined && isOmitted(first?.[totals.least], plan),
    };
  const [record = []] = (await run(groupTotals(plan, dialect, tables))) ?? [];
  return {
    groups,
    more: false,
    count: plan.counts ? Number(record[0] ?? 0) : undefined,
    omits: plan.minGroup !== undefined && isOmitted(record[1], plan),
  };
}

/** Of no rows at all, one group has none. */
function isOmitted(least: unknown, { minGroup = 0 }: AggregatePlan): boolean {
  return least !== null && least !== undefined && Number(least) < minGroup;
}

/** An integer that is too large for the database is an error of it. */
async function runExactly<S extends Session>(
  statement: Statement,
  { list: { requester } }: AggregatePlan,
  { connections, dialect }: ReaderTools<S>,
): Promise<Records | undefined> {
  try {
    return await connections.readUnlessAborted(statement, requester);
  } catch (error) {
    if (dialect.errorFor(error)?.kind !== 'data') throw error;
    throw new InexactResult();
  }
}
