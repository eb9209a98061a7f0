import type { Json } from '../core/errors/rest-exception.js';
import type { Column } from '../core/schema/column.js';
import type { Operand } from '../core/query/condition.js';
import type { ColumnPair, ManyToManyRelation, Relation } from '../core/schema/relation.js';
import type { Resource } from '../core/schema/resource.js';
import type { DataType } from '../core/schema/data-type.js';
import type { Dialect } from './dialects/dialect.js';
import type { TableNames, TableRegistry } from './table-names.js';

/** What one statement shares with its subqueries: parameters and alias numbers. */
interface Statement {
  readonly parameters: unknown[];
  aliases: number;
}

/**
 * One FROM of a statement being written: an alias of a table, and the to-one joins that its columns ask for. Hands out
 * placeholders in the order in which the SQL text is written, which is the order that `?` needs: write every part of a
 * statement in the order in which it stands.
 */
export class Scope {
  readonly alias: string;
  readonly table: TableNames;
  private readonly joined = new Map<string, { alias: string; table: TableNames }>();
  private readonly joinTexts: string[] = [];
  /** Where its rows come from. */
  private source: string;

  private constructor(
    readonly dialect: Dialect,
    readonly tables: TableRegistry,
    readonly resource: Resource,
    private readonly statement: Statement,
    named = false,
  ) {
    this.table = tables.of(resource);
    this.source = this.table.path;
    this.alias = named ? this.table.ownAlias : this.nextAlias();
  }

  static begin(dialect: Dialect, tables: TableRegistry, resource: Resource): Scope {
    return new Scope(dialect, tables, resource, { parameters: [], aliases: 0 });
  }

  /** Of an INSERT or UPDATE, in which the table goes by its own name: not every database takes an alias in RETURNING. */
  static ofTable(dialect: Dialect, tables: TableRegistry, resource: Resource): Scope {
    return new Scope(dialect, tables, resource, { parameters: [], aliases: 0 }, true);
  }

  /** A subquery of the same statement. */
  within(resource: Resource): Scope {
    return new Scope(this.dialect, this.tables, resource, this.statement);
  }

  /** Over a row that stands in the statement itself: `select` writes it under the names of the table's columns. */
  static over(
    dialect: Dialect,
    tables: TableRegistry,
    resource: Resource,
    select: (scope: Scope) => string,
  ): Scope {
    const scope = Scope.begin(dialect, tables, resource);
    scope.source = `(${select(scope)})`;
    return scope;
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
    const at = this.join(hops);
    return at.table.column(at.alias, column);
  }

  /** `table alias` and its joins. Call it after everything that may ask for a join has been written. */
  from(): string {
    return [`${this.source} ${this.alias}`, ...this.joinTexts].join(' ');
  }

  /** The conditions that leave out soft-deleted rows and those of other entities in the same table. */
  rows(): readonly string[] {
    return this.table.rows(this.alias);
  }

  /** The alias and table where the hops lead, joined once however often they are asked for. */
  join(hops: readonly Relation[]): { alias: string; table: TableNames } {
    let here = { alias: this.alias, table: this.table };
    let path = '';
    for (const relation of hops) {
      if (relation.kind === 'many-to-many') throw new Error(`${relation.name} is no to-one relation`);
      path += `/${relation.name}`;
      here = this.joined.get(path) ?? this.addJoin(path, here, relation);
    }
    return here;
  }

  /** SQL of: these rows belong together. */
  pairs(
    on: readonly ColumnPair[],
    near: { alias: string; table: TableNames },
    far: { alias: string; table: TableNames },
  ): string {
    return on
      .map((pair) => `${far.table.column(far.alias, pair.far)} = ${near.table.column(near.alias, pair.near)}`)
      .join(' AND ');
  }

  private addJoin(
    path: string,
    near: { alias: string; table: TableNames },
    relation: Exclude<Relation, ManyToManyRelation>,
  ): { alias: string; table: TableNames } {
    const far = { alias: this.nextAlias(), table: this.tables.of(relation.target) };
    const evenDeleted = relation.kind === 'to-one' && relation.evenDeleted === true;
    this.joined.set(path, far);
    const conditions = [
      this.pairs(relation.on, near, far),
      ...(evenDeleted ? far.table.rowsEvenDeleted(far.alias) : far.table.rows(far.alias)),
    ];
    this.joinTexts.push(`LEFT JOIN ${far.table.path} ${far.alias} ON ${conditions.join(' AND ')}`);
    return far;
  }

  private nextAlias(): string {
    return `t${this.statement.aliases++}`;
  }
}
