import type { DataSource } from 'typeorm';
import type { DeclarationProblem } from '../../../core/errors/declaration-error.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { Tables } from '../table-metadata.js';

interface FullTextTools {
  readonly tables: Tables;
  readonly dialect: Dialect;
  readonly dataSource: DataSource;
}

/** What the database lacks for the full-text searches of models. */
export async function fullTextProblems(
  resources: readonly ResourceSchema[],
  { tables, dialect, dataSource }: FullTextTools,
): Promise<readonly DeclarationProblem[]> {
  const problems: DeclarationProblem[] = [];
  for (const resource of resources) {
    const document = resource.searchFields.find(({ operand }) => operand.document)?.operand.document;
    if (!document) continue;
    const { metadata } = tables.of(resource);
    const { tableName: name, database } = metadata;
    for (const { part, statement, flaw } of dialect.fullText.checks(document, {
      path: tables.pathOf(metadata),
      name,
      database,
    })) {
      const found = await dataSource.query<readonly { readonly c0: string }[]>(statement.sql, [
        ...statement.parameters,
      ]);
      const wrong = flaw(found.map(({ c0 }) => c0));
      const where = `${resource.className}.fullText${part === '' ? '' : `.${part}`}`;
      if (wrong && !problems.some((known) => known.where === where && known.what === wrong.what))
        problems.push({ where, ...wrong });
    }
  }
  return problems;
}
