import { fullTextOptions, rankName } from '../../core/contracts/full-text.js';
import type { FullTextOptions } from '../../core/contracts/full-text.js';
import type { ModelDescription } from '../../core/schema/entity-metadata.js';
import type { Resource } from '../../core/schema/resource.js';
import { resolveFilterPath, searchEntry } from '../compile-queries.js';
import type { EntityDeclaration } from '../compiler-input.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';

interface SearchedModel {
  readonly draft: EntityDeclaration;
  readonly resource: Resource;
}

/** Verifies that the search fields are one text of the model, for which this database can have an index. */
export function* fullTextProblems(
  { draft, resource }: SearchedModel,
  { abilities }: Pick<ModelDescription, 'abilities'>,
): Problems {
  const { name, options } = draft.declaration;
  const fullText = fullTextOptions(options.fullText);
  if (!fullText) return;
  const where = `${name}.fullText`;
  if ((options.searchFields ?? []).length === 0)
    yield problem(where, 'the model names no search fields', "Name them: searchFields: ['@title', '@text'].");
  for (const [index, text] of (options.searchFields ?? []).entries()) {
    const { path, match } = searchEntry(text);
    const resolved = resolveFilterPath(path, resource);
    if (resolved && (match !== 'fulltext' || resolved.row.length > 0 || resolved.some.length > 0))
      yield problem(
        `${name}.searchFields[${index}]`,
        `"${text}" cannot be searched with the others as one text`,
        'With fullText, name columns of the model itself, each with "@" before it.',
      );
  }
  yield* databaseProblems(where, fullText, { abilities, resource });
  yield* rankProblems(where, fullText, resource);
}

function* databaseProblems(
  where: string,
  { unaccent, table }: FullTextOptions,
  {
    abilities: { fullText },
    resource: { identity },
  }: Pick<ModelDescription, 'abilities'> & { resource: Resource },
): Problems {
  if (unaccent === true && fullText !== 'any-column')
    yield problem(
      `${where}.unaccent`,
      'this database has no extension unaccent',
      `Leave it out: ${fullText === 'none' ? 'the tokenizer of the FTS5 table' : 'the collation of the columns'} decides on accents.`,
    );
  if (fullText !== 'none') return;
  if (table === undefined)
    yield problem(
      where,
      'SQLite searches by an FTS5 table, and none is named',
      "Create one, and name it: fullText: { table: 'article_text' }.",
    );
  const [key, ...others] = identity;
  if (others.length > 0 || (key?.type.kind !== 'integer' && key?.type.kind !== 'bigint'))
    yield problem(
      where,
      'the rows of an FTS5 table are those of an integer key, and this model has another one',
      'Give the model an integer key, or leave fullText out.',
    );
}

function* rankProblems(
  where: string,
  fullText: FullTextOptions,
  { fieldsByName, pagination }: Resource,
): Problems {
  const rank = rankName(fullText);
  if (rank === undefined) return;
  if (fieldsByName.has(rank))
    yield problem(
      where,
      `"${rank}" is the order by rank, and a field of the model`,
      "Give the order another name: fullText: { rank: 'relevance' }.",
    );
  // An invalid pagination is reported elsewhere.
  const describe = typeof pagination?.describe === 'function' ? pagination.describe() : undefined;
  if (describe?.standard?.kind === 'cursor')
    yield problem(
      where,
      'pages with cursors have no order by rank, which changes with other rows',
      'Write fullText: { rank: false } for a search without it, or give the model another pagination.',
    );
}
