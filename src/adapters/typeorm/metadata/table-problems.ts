import type { DataSource, EntityMetadata } from 'typeorm';
import type { DeclarationProblem } from '../../../core/errors/declaration-error.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { Tables } from '../table-metadata.js';

/** The definition of a table or view in the database. */
interface Definition {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

/** A constraint whose violation deletes the other row; NOT NULL with this clause only sets the default. */
const REPLACES =
  /\b(?:UNIQUE|PRIMARY\s+KEY)(?:\s+(?:ASC|DESC))?(?:\s*\([^)]*\))?\s+ON\s+CONFLICT\s+REPLACE\b/i;

/** What is wrong with models by the definitions of their tables in the database: writes would change or show other rows. */
export async function tableProblems(
  resources: readonly ResourceSchema[],
  { tables, dialect, dataSource }: { tables: Tables; dialect: Dialect; dataSource: DataSource },
): Promise<readonly DeclarationProblem[]> {
  if (dialect.definitions === undefined) return [];
  const found = await dataSource.query<readonly Definition[]>(dialect.definitions);
  const definitions = new Map(found.map((each) => [each.name.toLowerCase(), each]));
  return resources.flatMap((resource) => {
    const { metadata } = tables.of(resource);
    const definition = definitions.get(metadata.tableName.toLowerCase());
    return definition ? problemsOf(resource, metadata, definition) : [];
  });
}

function problemsOf(
  { operations }: ResourceSchema,
  metadata: EntityMetadata,
  { name, type, sql }: Definition,
): readonly DeclarationProblem[] {
  const where = metadata.targetName || metadata.name;
  if (type === 'view' && operations.has('create') && metadata.generatedColumns.some(isMadeByDatabase))
    return [
      {
        where,
        what: `SQLite does not tell the key of a new row of the view "${name}"`,
        repair:
          "Let the client or the process give the key: @PrimaryColumn() or @PrimaryGeneratedColumn('uuid'), or leave 'create' out of its operations.",
      },
    ];
  const writes = operations.has('create') || operations.has('update') || operations.has('partialUpdate');
  return writes && REPLACES.test(sql)
    ? [
        {
          where,
          what: `a write to the table "${name}" may delete another row, because a constraint has ON CONFLICT REPLACE`,
          repair:
            "Take the clause out of the table, or serve it for reading: operations: ['list', 'retrieve'].",
        },
      ]
    : [];
}

function isMadeByDatabase({ isPrimary, generationStrategy }: EntityMetadata['columns'][number]): boolean {
  return isPrimary && generationStrategy !== 'uuid';
}
