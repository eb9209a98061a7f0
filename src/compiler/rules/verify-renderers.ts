import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { FORMAT_PARAMETER } from '../../core/contracts/renderer.js';
import type { Renderer } from '../../core/contracts/renderer.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { Resource } from '../../core/schema/resource.js';
import { JSON_MEDIA_TYPE } from '../../core/media-type.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import { deduplicateProblems } from './deduplicate-problems.js';

interface DeclaredRenderers {
  readonly where: string;
  readonly renderers: unknown;
}

/** Verifies renderers, the uniqueness of their names, and that `format` has no other meaning in their models. */
export function verifyRenderers(input: CompilerInput, { all }: CompiledModel): readonly DeclarationProblem[] {
  return deduplicateProblems([
    ...givenIn(input).flatMap(rendererProblems),
    ...errorFormatProblems(input),
    ...all.flatMap(formatParameterProblems),
  ]);
}

function givenIn(input: CompilerInput): readonly DeclaredRenderers[] {
  return optionLocations(input)
    .map(({ where, options: { renderers } }) => ({ where: `${where}.renderers`, renderers }))
    .filter(({ renderers }) => renderers !== undefined);
}

function rendererProblems({ where, renderers }: DeclaredRenderers): readonly DeclarationProblem[] {
  const listed: readonly unknown[] = Array.isArray(renderers) ? renderers : [renderers];
  const known = { formats: new Set(['json']), types: new Set([JSON_MEDIA_TYPE]) };
  return listed.flatMap((each, index) => {
    const at = Array.isArray(renderers) ? `${where}[${index}]` : where;
    if (!Array.isArray(renderers) || !isRenderer(each))
      return [
        {
          where: at,
          what: 'this is not a renderer',
          repair:
            'Write renderers: [new CsvRenderer(), new NdjsonRenderer()], or objects of your own with format, mediaType and render.',
        },
      ];
    const { format, mediaType } = each;
    const problems: DeclarationProblem[] = [];
    if (!/^[\w-]+$/.test(format) || known.formats.has(format))
      problems.push({
        where: at,
        what: `its format "${format}" is not an unused name`,
        repair: 'Give it letters and digits that no other renderer has; "json" is taken.',
      });
    if (!/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(mediaType) || known.types.has(mediaType))
      problems.push({
        where: at,
        what: `its mediaType "${mediaType}" is not an unused media type`,
        repair:
          'Give it a media type in lower case, without parameters, that no other renderer has: text/csv.',
      });
    known.formats.add(format);
    known.types.add(mediaType);
    return problems;
  });
}

function isRenderer(given: unknown): given is Renderer {
  const { format, mediaType, render } = (given ?? {}) as Partial<Record<keyof Renderer, unknown>>;
  return typeof format === 'string' && typeof mediaType === 'string' && typeof render === 'function';
}

function errorFormatProblems({ prefix, errorFormat }: CompilerInput): readonly DeclarationProblem[] {
  const known: readonly unknown[] = ['drf', 'problem'];
  if (known.includes(errorFormat)) return [];
  return [
    {
      where: `RestifyModule.forRoot('${prefix}').errorFormat`,
      what: `there is no error format ${JSON.stringify(errorFormat)}`,
      repair: "Write 'drf' or 'problem'.",
    },
  ];
}

function formatParameterProblems(resource: Resource): readonly DeclarationProblem[] {
  const { renderers, operations, backends, pagination, label } = resource;
  if (renderers.length === 0 || !(operations.has('list') || operations.has('retrieve'))) return [];
  const format = parameterName(FORMAT_PARAMETER, resource);
  const read =
    backends.some((backend) => backend.parameters?.(resource).includes(format) === true) ||
    pagination?.parameters().includes(format) === true;
  return read
    ? [
        {
          where: `${label}.renderers`,
          what: `the query parameter "${format}" is already used for something else`,
          repair: 'Give the filter backend or the pagination another parameter, or the model renderers: [].',
        },
      ]
    : [];
}
