import type { Json } from '../core/errors/rest-exception.js';
import type { Column } from '../core/schema/column.js';
import type { Operand } from '../core/query/condition.js';
import type { ColumnPair, ManyToManyRelation, Relation } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { DataType } from '../core/schema/data-type.js';
import type { Dialect } from './dialects/dialect.js';
import type { TableNames, TableRegistry } from './table-names.js';

/** The state that a statement shares with its subqueries. */
interface StatementState {
  readonly dialect: Dialect;
  readonly tables: TableRegistry;
  readonly parameters: unknown[];
  aliases: number;
}

/** A table of a FROM clause, and the alias of its occurrence. */
export interface AliasedTable {
  readonly alias: string;
  readonly table: TableNames;
}

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
    return new Scope(resource, { dialect, tables, parameters: [], aliases: 0 });
  }

  /** The scope of an INSERT or UPDATE, which refers to the table by its own name: not every database admits an alias in RETURNING. */
  static ofTable(dialect: Dialect, tables: TableRegistry, resource: ResourceSchema): Scope {
    return new Scope(resource, { dialect, tables, parameters: [], aliases: 0 }, true);
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

  own(column: Column): string {
    return this.table.column(this.alias, column);
  }

  operand({ hops, column }: Operand): string {
    const { table, alias } = this.join(hops);
    return hops.length === 0 ? table.column(alias, column) : table.joinedColumn(alias, column);
  }

  /** As in `TableNames`. */
  holders({ hops, column }: Operand): readonly string[] {
    const { table, alias } = this.join(hops);
    return table.holders(alias, column);
  }

  /** `table alias` and its joins. Call it after all parts that may add a join have been built. */
  from(): string {
    let sql = `${this.source} ${this.alias}`;
    for (const join of this.joins.values()) sql += ` ${join.isRequired ? 'INNER' : 'LEFT'} JOIN ${join.sql}`;
    return sql;
  }

  /** The conditions that exclude soft-deleted rows and those of other entities in the same table. */
  rows(): readonly string[] {
    return this.table.rows(this.alias);
  }

  /** The alias and table at the end of a path of relations; each path is joined once. */
  join(hops: readonly Relation[]): AliasedTable {
    return this.joinsOf(hops).at(-1) ?? this;
  }

  /**
   * Joins a path without the rows that have no related one: the planner may then start at the related table. Call it where a
   * condition of the whole statement rejects these rows.
   */
  requireJoins(hops: readonly Relation[]): void {
    for (const join of this.joinsOf(hops)) join.isRequired = true;
  }

  /** The joins of a path, one per relation. */
  private joinsOf(hops: readonly Relation[]): readonly Join[] {
    const joins: Join[] = [];
    let path = '';
    for (const relation of hops) {
      if (relation.kind === 'many-to-many') throw new Error(`${relation.name} is not a to-one relation`);
      path += `/${relation.name}`;
      joins.push(this.joins.get(path) ?? this.addJoin(path, joins.at(-1) ?? this, relation));
    }
    return joins;
  }

  /** The join condition of two tables. */
  pairs(on: readonly ColumnPair[], near: AliasedTable, far: AliasedTable): string {
    const equal = on.map((pair) => {
      const column = near.table.column(near.alias, pair.near);
      return `${far.table.column(far.alias, pair.far)} = ${this.dialect.joined(column, pair.near.type, pair.far.type)}`;
    });
    const held = on.flatMap((pair) => [
      ...near.table.holders(near.alias, pair.near),
      ...far.table.holders(far.alias, pair.far),
    ]);
    return [...equal, ...new Set(held)].join(' AND ');
  }

  private addJoin(path: string, near: Scope | Join, relation: Exclude<Relation, ManyToManyRelation>): Join {
    const far = { alias: this.nextAlias(), table: this.statement.tables.of(relation.target) };
    const evenDeleted = relation.kind === 'to-one' && relation.evenDeleted === true;
    const conditions = [
      this.pairs(relation.on, near, far),
      ...(evenDeleted ? far.table.rowsEvenDeleted(far.alias) : far.table.rows(far.alias)),
    ];
    const sql = `${far.table.path} ${far.alias} ON ${conditions.join(' AND ')}`;
    const join = { ...far, sql, isRequired: this.isGuaranteed(near, relation, far) };
    this.joins.set(path, join);
    return join;
  }

  /** Whether each row has the related one, and the join does not reject it. */
  private isGuaranteed(
    near: Scope | Join,
    { on }: Exclude<Relation, ManyToManyRelation>,
    far: AliasedTable,
  ): boolean {
    const isStored = near instanceof Scope ? near.readsTable : near.isRequired;
    return (
      isStored &&
      far.table.rows(far.alias).length === 0 &&
      this.statement.tables.isGuaranteed(near.table, on, far.table)
    );
  }

  private nextAlias(): string {
    return `t${this.statement.aliases++}`;
  }
}
