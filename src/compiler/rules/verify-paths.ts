import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';

const MODEL_SEGMENT = /^[a-z0-9][a-z0-9_-]*$/;

/** Verifies that every model has a unique path of two lower-case words (contract 1.1). */
export function verifyPaths({ drafts }: CompilerInput): readonly DeclarationProblem[] {
  return [...drafts.flatMap(wrongWords), ...sharedPaths(drafts)];
}

function wrongWords({ declaration, app, model }: EntityDeclaration): readonly DeclarationProblem[] {
  const { name } = declaration;
  if (app === undefined) {
    return [
      {
        where: name,
        what: 'it has no app label',
        repair: `Write @Restify('blog'), or RestifyModule.forFeature('blog', [${name}]) in a module.`,
      },
    ];
  }
  const problems: DeclarationProblem[] = [];
  if (!MODEL_SEGMENT.test(app)) problems.push(notAWord(`${name}.app`, app));
  if (!MODEL_SEGMENT.test(model)) problems.push(notAWord(`${name}.name`, model));
  return problems;
}

function notAWord(where: string, word: string): DeclarationProblem {
  const mended = word
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|-+$/g, '');
  return {
    where,
    what: `"${word}" is not allowed in a path`,
    repair: `Write "${mended || 'blog'}": lower-case letters, digits, "_" and "-".`,
  };
}

function sharedPaths(drafts: readonly EntityDeclaration[]): readonly DeclarationProblem[] {
  const byPath = new Map<string, EntityDeclaration[]>();
  for (const draft of drafts) {
    const path = `${draft.app ?? ''}/${draft.model}`;
    byPath.set(path, [...(byPath.get(path) ?? []), draft]);
  }
  return [...byPath].flatMap(([path, sharing]): readonly DeclarationProblem[] => {
    const [first, second] = sharing;
    if (!first || !second || first.app === undefined) return [];
    const names = sharing.map(({ declaration }) => declaration.name);
    return [
      {
        where: names.join(', '),
        what: `all of them have the path "${path}"`,
        repair: `Give one of them a name of its own: @Restify({ app: '${first.app}', name: 'other${first.model}' }).`,
      },
    ];
  });
}
