import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { EntityDeclaration } from '../compiler-input.js';
import { MODEL_OPTIONS, PREFIX_OPTIONS } from './option-kinds.js';
import type { OptionKind } from './option-flaw.js';

/** The raw declarations, before compilation. */
export interface GivenOptions {
  /** As messages name it. */
  readonly prefix: string;
  /** The arguments of `forRoot`. */
  readonly given: { readonly prefix: unknown; readonly options: object };
  readonly drafts: readonly EntityDeclaration[];
}

/**
 * Verifies the type of every option: an invalid number, a string instead of a list, or null would be misread or ignored. Runs
 * before compilation, which relies on the types.
 */
export function verifyOptions({
  prefix,
  given: { prefix: path, options },
  drafts,
}: GivenOptions): readonly DeclarationProblem[] {
  const root = `RestifyModule.forRoot('${prefix}')`;
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(PREFIX_OPTIONS, name));
  return [
    ...(typeof path === 'string'
      ? []
      : [
          {
            where: root,
            what: `${String(path)} is not a path`,
            repair: "Write a text: 'rest/v1', or '' for none.",
          },
        ]),
    ...unknown.map((name) => ({
      where: `${root}.${name}`,
      what: `"${name}" is not an option of RestifyModule.forRoot`,
      repair: didYouMean(name, Object.keys(PREFIX_OPTIONS)),
    })),
    ...problemsAt(root, options, PREFIX_OPTIONS),
    ...drafts.flatMap(({ declaration: { name, options: declared } }) => [
      ...problemsAt(name, declared, MODEL_OPTIONS),
      ...problemsOfThrough(name, declared.through),
    ]),
  ];
}

function problemsOfThrough(name: string, through: unknown): readonly DeclarationProblem[] {
  if (typeof through !== 'object' || through === null) return [];
  return Object.entries(through).flatMap(([relation, rules]): readonly DeclarationProblem[] => {
    const where = `${name}.through.${relation}`;
    if (typeof rules !== 'object' || rules === null)
      return [
        {
          where,
          what: 'this does not configure the junction',
          repair: 'Write an object with its options, such as { permissions: [IsAuthenticated] }.',
        },
      ];
    return problemsAt(where, rules as object, MODEL_OPTIONS);
  });
}

function problemsAt(
  where: string,
  options: object,
  kinds: Readonly<Record<string, OptionKind>>,
): readonly DeclarationProblem[] {
  return Object.entries(options).flatMap(
    ([name, given]: [string, unknown]): readonly DeclarationProblem[] => {
      const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
      if (!kind || given === undefined) return [];
      return kind(given).map(({ at, what, repair }) => ({ where: `${where}.${name}${at}`, what, repair }));
    },
  );
}
