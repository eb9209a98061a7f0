import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { DataType, TypeOf } from '../../../core/schema/data-type.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import { dialectFamily } from '../data-source-dialect.js';

type Comparing = Pick<TypeOf<'string'>, 'collation' | 'charset'>;

/** A character set or collation as it is put into SQL: names are letters, digits and quoted identifiers. */
const CHARSET = /^\w+$/;

/**
 * How the database compares the texts of its columns, read from its catalogue once at start: the entities of an application
 * with migrations need not say it.
 */
export class TextColumns {
  private readonly known = new Map<string, Comparing>();
  /** Set if the catalogue could not be read, which does not prevent the start. */
  warning: string | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Called before the entities are described. */
  async read({ textColumns }: Pick<Dialect, 'textColumns'>): Promise<void> {
    const schemas = new Set(this.dataSource.entityMetadatas.map((metadata) => this.schemaOf(metadata)));
    if (schemas.size === 0) return;
    const { sql, parameters } = textColumns([...schemas]);
    const rows = await this.dataSource
      .query<readonly CatalogueRow[]>(sql, [...parameters])
      .catch((error: unknown): readonly CatalogueRow[] => {
        this.warning = `The catalogue of the database could not be read (${String(error)}): collations and character sets that the entities do not declare are not known.`;
        return [];
      });
    for (const { c0, c1, c2, c3, c4 } of rows)
      this.known.set(nameOf([c0 ?? '', c1, c2]), {
        ...(c3 === null ? {} : { collation: c3 }),
        ...(c4 === null || !CHARSET.test(c4) ? {} : { charset: c4 }),
      });
  }

  /** The type of a column, with what the catalogue says of it. A foreign key compares as the column to which it refers. */
  refine(type: DataType, column: ColumnMetadata): DataType {
    if (type.kind !== 'string') return type;
    const { charset, collation } = this.of(column);
    const compared =
      dialectFamily(this.dataSource) === 'sqlite' ? this.of(referredBy(column)) : { collation };
    return {
      ...type,
      ...(charset === undefined ? {} : { charset }),
      ...(compared.collation === undefined ? {} : { collation: compared.collation }),
      ...(collation === undefined || dialectFamily(this.dataSource) !== 'postgres' ? {} : { loose: true }),
    };
  }

  private of({ entityMetadata, databaseName }: ColumnMetadata): Comparing {
    const { tableName } = this.dataSource.driver.parseTableName(entityMetadata);
    return this.known.get(nameOf([this.schemaOf(entityMetadata), tableName, databaseName])) ?? {};
  }

  private schemaOf(metadata: EntityMetadata): string {
    const { database, schema } = this.dataSource.driver.parseTableName(metadata);
    switch (dialectFamily(this.dataSource)) {
      case 'postgres':
        return schema ?? 'public';
      case 'mysql':
        return database ?? '';
      default:
        return '';
    }
  }
}

interface CatalogueRow {
  readonly c0: string | null;
  readonly c1: string;
  readonly c2: string;
  readonly c3: string | null;
  readonly c4: string | null;
}

/** Without case, which names keep on some systems and not on others. */
function nameOf(parts: readonly string[]): string {
  return JSON.stringify(parts).toLowerCase();
}

function referredBy(column: ColumnMetadata): ColumnMetadata {
  const { referencedColumn } = column;
  return referencedColumn && referencedColumn !== column ? referredBy(referencedColumn) : column;
}
