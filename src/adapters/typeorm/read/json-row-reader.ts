import { validatorValuesIn } from '../../../core/contracts/conditional.js';
import type { JsonOutput, JsonRow } from '../../../core/data-adapter.js';
import { writeJson } from '../../../core/values/exact-numbers.js';
import { mapMaybe } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { RetrievePlan } from '../../../core/query/plan.js';
import { compileWhere } from '../../../sql/compile-where.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { JsonRows } from '../../../sql/json-object-sql.js';
import { Scope } from '../../../sql/query-scope.js';
import { decodeRecord, readColumns, selectList } from '../../../sql/select-columns.js';
import { insertStoredJson } from '../../../sql/stored-json.js';
import { labelStatement } from '../../../sql/label-statement.js';
import { StatementCache } from '../../../sql/statement-cache.js';
import type { Records } from '../../../sql/statement.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import type { Tables } from '../table-metadata.js';
import type { RowReader, RowReaderTools } from './row-reader.js';

/** Reads single rows of one resource as JSON, which the database writes where possible. */
export class JsonRowReader {
  private readonly tables: Tables;
  private readonly dialect: Dialect;
  private readonly connections: ConnectionManager;
  private readonly statements: StatementCache;

  constructor(
    private readonly rows: RowReader,
    { tables, dialect, connections }: RowReaderTools,
  ) {
    this.tables = tables;
    this.dialect = dialect;
    this.connections = connections;
    this.statements = new StatementCache(dialect, rows.isClientSelected);
  }

  /** As declared by `DataAdapter.read`. */
  retrieve(plan: RetrievePlan, output: JsonOutput): MaybePromise<JsonRow | undefined> {
    const json = this.rows.jsonRowsFor(output);
    if (!json) return this.serializeRow(plan, output);
    const { where, requester, validators } = plan;
    const columns = validators?.columns ?? [];
    const { basePath } = output;
    const statement = this.statements.of(`${validators ? 'validated' : 'row'} ${basePath}`, [where], () => {
      const scope = this.beginScope();
      const list = selectList([
        json.sql(scope, basePath),
        ...readColumns(columns, scope),
        ...json.stored.map(({ sql }) => sql(scope)),
      ]);
      const condition = compileWhere(where, scope);
      const { resource } = this.rows;
      const sql = `SELECT ${list} FROM ${scope.from()} WHERE ${condition} LIMIT 1`;
      return labelStatement({ sql, parameters: scope.parameters }, { operation: 'retrieve', resource }, [
        { resource, where },
      ]);
    });
    const toRow = ([record]: Records): MaybePromise<JsonRow | undefined> => {
      if (!record) return undefined;
      const text = readText(record, json);
      if (text === undefined) return this.serializeRow(plan, output);
      const validatorValues = validators ? decodeRecord(record.slice(1), columns, this.dialect) : [];
      return { text, validatorValues };
    };
    return this.rows.readJson(
      () => mapMaybe(this.connections.read(statement, 'replica', requester), toRow),
      () => this.serializeRow(plan, output),
    );
  }

  private async serializeRow(plan: RetrievePlan, { represent }: JsonOutput): Promise<JsonRow | undefined> {
    const row = await this.rows.retrieve(plan);
    return (
      row && {
        text: writeJson(represent(row)),
        validatorValues: plan.validators ? validatorValuesIn(row, plan.validators) : [],
      }
    );
  }

  private beginScope(): Scope {
    return Scope.begin(this.dialect, this.tables, this.rows.resource);
  }
}

/** Undefined if only the process can serialize the row. */
function readText(record: readonly unknown[], json: JsonRows): string | undefined {
  const [text] = record;
  if (typeof text !== 'string' || !json.isValidJson(text)) return undefined;
  const texts = record.slice(record.length - json.stored.length);
  return insertStoredJson(text, json.stored, { texts, total: 1, count: 1, skipped: 0 });
}
