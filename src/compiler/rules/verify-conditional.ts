import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';

/** Verifies the options of conditional requests and caches: a misspelt one would protect nothing. */
export function verifyConditional(
  input: CompilerInput,
  _model: CompiledModel,
): readonly DeclarationProblem[] {
  return optionLocations(input).flatMap(({ where, options: { conditional, cacheControl } }) => [
    ...conditionalProblems(`${where}.conditional`, conditional),
    ...cacheProblems(`${where}.cacheControl`, cacheControl),
  ]);
}

function conditionalProblems(where: string, given: unknown): readonly DeclarationProblem[] {
  if (given === undefined || typeof given === 'boolean') return [];
  const repair = "Write true, false or { require: true, etag: 'content' }, with either of the two.";
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [{ where, what: 'this does not configure conditional requests', repair }];
  const { require, etag, ...rest } = given as Readonly<Record<string, unknown>>;
  return [
    ...Object.keys(rest).map((name) => ({
      where: `${where}.${name}`,
      what: `"${name}" is not an option of conditional requests`,
      repair,
    })),
    ...(require === undefined || typeof require === 'boolean'
      ? []
      : [{ where: `${where}.require`, what: 'this is neither true nor false', repair }]),
    ...(etag === undefined || etag === 'content'
      ? []
      : [
          {
            where: `${where}.etag`,
            what: "this is not 'content'",
            repair: "Write etag: 'content', or leave it out: the version column tells where it can.",
          },
        ]),
  ];
}

/** The syntax of `Cache-Control` directives (RFC 9111, 5.2). */
const DIRECTIVE = '[!#$%&\'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&\'*+.^_`|~0-9A-Za-z-]+|"[\\t !#-\\[\\]-~]*"))?';
const DIRECTIVES = new RegExp(`^${DIRECTIVE}(?: *, *${DIRECTIVE})*$`);

function cacheProblems(where: string, given: unknown): readonly DeclarationProblem[] {
  if (given === undefined || given === false || (typeof given === 'string' && DIRECTIVES.test(given)))
    return [];
  return [
    {
      where,
      what: 'this is not a valid value of Cache-Control',
      repair: "Write its directives, such as 'private, no-cache' or 'public, max-age=60', or false for none.",
    },
  ];
}
