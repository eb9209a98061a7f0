import type { SearchedDocument } from '../core/contracts/full-text.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { Operand } from '../core/query/condition.js';
import type { Column } from '../core/schema/column.js';
import type { DataType } from '../core/schema/data-type.js';
import type { ColumnPair, ManyToManyRelation, Relation } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { Dialect } from './dialects/dialect.js';
import type { DocumentSql } from './dialects/full-text-syntax.js';
import type { Statement } from './statement.js';
import type { TableNames, TableRegistry } from './table-names.js';

/** The state that a statement shares with its subqueries. */
interface StatementState {
  readonly dialect: Dialect;
  readonly tables: TableRegistry;
  readonly parameters: unknown[];
  /** The positions of parameters that repeat an earlier one, with the position of that one. */
  readonly repeats: Map<number, number>;
  aliases: number;
}

/** A table of a FROM clause, and the alias of its occurrence. */
export interface AliasedTable {
  readonly alias: string;
  readonly table: TableNames;
}

/** The join of the index of a document; paths of relations begin with a slash. */
const DOCUMENT = 'document';

/** A to-one join of a FROM clause. */
interface Join extends AliasedTable {
  /** The table and the join condition. */
  readonly sql: string;
  /** Whether a row without the related one matches no condition. */
  isRequired: boolean;
}

/**
 * One FROM clause of a statement under construction: the alias of a table, and the to-one joins that its columns require.
 * Placeholders are numbered in the order of the calls, and `?` binds by position: build the parts of a statement in the
 * order in which they appear in the SQL.
 */
export class Scope implements AliasedTable {
  readonly dialect: Dialect;
  readonly alias: string;
  readonly table: TableNames;
  private readonly joins = new Map<string, Join>();
  /** The quoted table, or a subquery. */
  private source: string;

  private constructor(
    readonly resource: ResourceSchema,
    private readonly statement: StatementState,
    usesOwnName = false,
  ) {
    this.dialect = statement.dialect;
    this.table = statement.tables.of(resource);
    this.source = this.table.path;
    this.alias = usesOwnName ? this.table.ownAlias : this.nextAlias();
  }

  static begin(dialect: Dialect, tables: TableRegistry, resource: ResourceSchema): Scope {
    return new Scope(resource, { dialect, tables, parameters: [], repeats: new Map(), aliases: 0 });
  }

  /** The scope of an INSERT or UPDATE, which refers to the table by its own name: not every database admits an alias in RETURNING. */
  static ofTable(dialect: Dialect, tables: TableRegistry, resource: ResourceSchema): Scope {
    return new Scope(resource, { dialect, tables, parameters: [], repeats: new Map(), aliases: 0 }, true);
  }

  /** The scope of a subquery in the same statement. */
  within(resource: ResourceSchema): Scope {
    return new Scope(resource, this.statement);
  }

  /** Reads from a derived table instead of the table. `select` has the column names of the table. */
  setDerivedTable(select: string): void {
    this.source = `(${select})`;
  }

  /** Whether its rows are those of the table. */
  get readsTable(): boolean {
    return this.source === this.table.path;
  }

  get parameters(): readonly unknown[] {
    return this.statement.parameters;
  }

  bind(value: Json, type: DataType): string {
    return this.dialect.parameter(
      this.bindRaw(value === null ? null : this.dialect.encode(value, type)),
      type,
    );
  }

  bindText(text: string): string {
    return this.bindRaw(text);
  }

  bindRaw(value: unknown): string {
    this.statement.parameters.push(value);
    return this.dialect.placeholder(this.statement.parameters.length);
  }

  /** The statement with the parameters that were bound. */
  complete(sql: string): Statement {
    const { parameters, repeats } = this.statement;
    return repeats.size === 0 ? { sql, parameters } : { sql, parameters, repeats };
  }

  /** Binds the first parameters of the statement again, for SQL that is repeated. */
  repeatParameters(count: number): void {
    const { parameters, repeats } = this.statement;
    for (let index = 0; index < count; index++) {
      repeats.set(parameters.length, index);
      parameters.push(parameters[index]);
    }
  }

  own(column: Column): string {
    return this.table.column(this.alias, column);
  }

  operand({ joinPath, column, present, document, ranked }: Operand): string {
    if (document) {
      this.joinDocument(document);
      return this.dialect.fullText.rank(this.documentSql(document), ranked ?? '', (text) =>
        this.bindText(text),
      );
    }
    const { table, alias } = this.join(joinPath);
    const read = ({ json, ...each }: Column): string => {
      if (json && !json.generated) return this.dialect.jsonPaths.value(read(json.source), json);
      const stored = json?.generated ?? each;
      return joinPath.length === 0 ? table.column(alias, stored) : table.joinedColumn(alias, stored);
    };
    if (!present) return read(column);
    return `CASE WHEN ${present.map((each) => `${read(each)} IS NOT NULL`).join(' AND ')} THEN ${read(column)} END`;
  }

  /** Joins the index that ranks the rows of the document, where it is a table of its own. Conditions use it then. */
  joinDocument(document: SearchedDocument): void {
    if (this.joins.has(DOCUMENT)) return;
    const alias = this.nextAlias();
    const sql = this.dialect.fullText.join(document, alias, this.own(document.key));
    if (sql !== undefined) this.joins.set(DOCUMENT, { alias, table: this.table, sql, isRequired: true });
  }

  /** The condition that the document has these terms, as in `Condition`. */
  matchDocument(document: SearchedDocument, terms: string): string {
    if (terms === '') return '1 = 0';
    return this.dialect.fullText.matches(this.documentSql(document), terms, (text) => this.bindText(text));
  }

  private documentSql(document: SearchedDocument): DocumentSql {
    const { alias } = this;
    return {
      document,
      alias,
      columns: document.columns.map((column) => this.own(column)),
      key: this.own(document.key),
      joined: this.joins.get(DOCUMENT)?.alias,
    };
  }

  /** As in `TableNames`. */
  holders({ joinPath, column }: Operand): readonly string[] {
    const { table, alias } = this.join(joinPath);
    return table.holders(alias, column);
  }

  /**
   * `table alias` and its joins. Call it after all parts that may add a join have been built. `required`: paths whose rows without the
   * related one match no condition of this SELECT.
   */
  from(required: readonly Operand['joinPath'][] = []): string {
    const inner = new Set(required.flatMap((joinPath) => this.joinsOf(joinPath)));
    let sql = `${this.source} ${this.alias}`;
    for (const join of this.joins.values())
      sql += ` ${join.isRequired || inner.has(join) ? 'INNER' : 'LEFT'} JOIN ${join.sql}`;
    return sql;
  }

  /** The conditions that exclude soft-deleted rows and those of other entities in the same table. */
  rows(): readonly string[] {
    return this.table.rows(this.alias);
  }

  /** The alias and table at the end of a path of relations; each path is joined once. */
  join(joinPath: readonly Relation[]): AliasedTable {
    return this.joinsOf(joinPath).at(-1) ?? this;
  }

  /**
   * Joins a path without the rows that have no related one: the planner may then start at the related table. Call it where a
   * condition of the whole statement rejects these rows.
   */
  requireJoins(joinPath: readonly Relation[]): void {
    for (const join of this.joinsOf(joinPath)) join.isRequired = true;
  }

  /** Whether the statement selects only rows that have a related one at the end of the path. */
  requires(joinPath: readonly Relation[]): boolean {
    return this.joinsOf(joinPath).every(({ isRequired }) => isRequired);
  }

  /** The joins of a path, one per relation. */
  private joinsOf(joinPath: readonly Relation[]): readonly Join[] {
    const joins: Join[] = [];
    let path = '';
    for (const relation of joinPath) {
      if (relation.kind === 'many-to-many') throw new Error(`${relation.name} is not a to-one relation`);
      path += `/${relation.name}`;
      joins.push(this.joins.get(path) ?? this.addJoin(path, joins.at(-1) ?? this, relation));
    }
    return joins;
  }

  /** The join condition of two tables. */
  pairs(on: readonly ColumnPair[], source: AliasedTable, target: AliasedTable): string {
    const equal = on.map((pair) => {
      const column = source.table.column(source.alias, pair.localColumn);
      return `${target.table.column(target.alias, pair.referencedColumn)} = ${this.dialect.joined(column, pair.localColumn.type, pair.referencedColumn.type)}`;
    });
    const held = on.flatMap((pair) => [
      ...source.table.holders(source.alias, pair.localColumn),
      ...target.table.holders(target.alias, pair.referencedColumn),
    ]);
    return [...equal, ...new Set(held)].join(' AND ');
  }

  /** Whether each row of a table has the row of another one to which it refers, and no condition excludes that one. */
  isGuaranteed(source: Scope | Join, on: readonly ColumnPair[], target: AliasedTable): boolean {
    const isStored = source instanceof Scope ? source.readsTable : source.isRequired;
    return (
      isStored &&
      target.table.rows(target.alias).length === 0 &&
      this.statement.tables.isGuaranteed(source.table, on, target.table)
    );
  }

  private addJoin(path: string, source: Scope | Join, relation: Exclude<Relation, ManyToManyRelation>): Join {
    const target = { alias: this.nextAlias(), table: this.statement.tables.of(relation.target) };
    const evenDeleted = relation.kind === 'to-one' && relation.evenDeleted === true;
    const conditions = [
      this.pairs(relation.on, source, target),
      ...(evenDeleted ? target.table.rowsEvenDeleted(target.alias) : target.table.rows(target.alias)),
    ];
    const sql = `${target.table.path} ${target.alias} ON ${conditions.join(' AND ')}`;
    const join = { ...target, sql, isRequired: this.isGuaranteed(source, relation.on, target) };
    this.joins.set(path, join);
    return join;
  }

  private nextAlias(): string {
    return `t${this.statement.aliases++}`;
  }
}

/** The locking clause of a SELECT from these tables, of which it locks the main one. */
export function lockOf({ alias, dialect: { lockRow, lockNamesTable } }: Scope, from: string): string {
  return lockNamesTable && from.includes(' JOIN ') ? `${lockRow} OF ${alias}` : lockRow;
}

/** A select list with the unique aliases `c0`, `c1` and so on. */
export function selectList(expressions: readonly string[]): string {
  return expressions.map((expression, index) => `${expression} AS c${index}`).join(', ');
}

/** The select expressions of columns of the scope's own table. */
export function readColumns(columns: readonly Column[], scope: Scope): readonly string[] {
  return columns.map((column) => scope.dialect.read(scope.own(column), column.type));
}

/** Converts the driver's value of a column to the canonical one. */
export function decodeColumn(raw: unknown, { type }: Pick<Column, 'type'>, dialect: Dialect): Json {
  return raw === null || raw === undefined ? null : dialect.decode(raw, type);
}

/** Converts the driver's values in `record`, in the order of `columns`, to canonical ones. */
export function decodeRecord(
  record: readonly unknown[],
  columns: readonly Column[],
  dialect: Dialect,
): readonly Json[] {
  return columns.map((column, index) => decodeColumn(record[index], column, dialect));
}
