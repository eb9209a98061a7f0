import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { RestifyOptions } from '../../decorators/model-options.js';
import type { CompilerInput } from '../compiler-input.js';
import { isPlainObject } from './option-kinds.js';
import { MODEL_OPTIONS, PREFIX_OPTIONS, ruleOf } from './option-schema.js';
import type { OptionRule } from './option-schema.js';
import { nameOfPrefix, problem } from './problems.js';
import type { Problems } from './problems.js';

/** The raw declarations, before compilation. */
type GivenOptions = Pick<CompilerInput, 'prefix' | 'given' | 'declarations'>;

/** Options as declared, not yet validated, with their location. */
export interface OptionLocation {
  /** `Poll`, `Student.through.course_set` or `RestifyModule.forRoot('rest/v1')`. */
  readonly where: string;
  readonly options: { readonly [Name in keyof RestifyOptions]?: unknown };
}

/** All locations of options: prefixes, models and junctions. */
export function optionLocations({
  prefix,
  defaults,
  declarations,
}: Pick<CompilerInput, 'prefix' | 'defaults' | 'declarations'>): readonly OptionLocation[] {
  return [{ where: nameOfPrefix(prefix), options: defaults }, ...modelLocations(declarations)];
}

function modelLocations(declarations: CompilerInput['declarations']): readonly OptionLocation[] {
  return declarations.flatMap(({ declaration: { name, options } }): readonly OptionLocation[] => [
    { where: name, options },
    ...Object.entries(isPlainObject(options.through) ? options.through : {}).map(
      ([relation, rules]): OptionLocation => ({
        where: `${name}.through.${relation}`,
        options: rules as OptionLocation['options'],
      }),
    ),
  ]);
}

/**
 * Verifies the type of every option: an invalid number, a string instead of a list, or null would be misread or ignored. Runs
 * before compilation, which relies on the types.
 */
export function* verifyOptions(input: GivenOptions): Problems {
  const root = nameOfPrefix(input.prefix);
  const { prefix, options } = input.given;
  if (typeof prefix !== 'string')
    yield problem(root, `${String(prefix)} is not a path`, "Write a text: 'rest/v1', or '' for none.");
  for (const name of Object.keys(options))
    if (!ruleOf(name, PREFIX_OPTIONS))
      yield problem(
        `${root}.${name}`,
        `"${name}" is not an option of RestifyModule.forRoot`,
        didYouMean(name, Object.keys(PREFIX_OPTIONS)),
      );
  yield* verifyValues(input, 'early');
}

/** Rejects unknown options, and arguments beside the options: they would be silently ignored, permissions among them. */
export function* verifyOptionNames({ declarations }: CompilerInput): Problems {
  for (const draft of declarations) {
    const model = draft.declaration.name;
    if (draft.declaration.hasMoreArguments)
      yield problem(
        model,
        '@Restify has one argument, and more are given',
        "Write the app label among the options: @Restify({ app: 'blog', … }).",
      );
    for (const { where, options } of modelLocations([draft])) {
      const unknown = Object.keys(options).filter((name) => !ruleOf(name, MODEL_OPTIONS));
      for (const name of unknown)
        yield problem(
          `${where}.${name}`,
          `"${name}" is not an option of ${where === model ? '@Restify' : 'through'}`,
          didYouMean(name, Object.keys(MODEL_OPTIONS)),
        );
    }
  }
}

/** Verifies what is told with the problems of the model: the values of options on which its compilation does not rely. */
export function verifyOptionValues(input: CompilerInput): Problems {
  return verifyValues(input, 'late');
}

function* verifyValues({ prefix, given, declarations }: GivenOptions, when: keyof OptionRule): Problems {
  yield* problemsAt({ where: nameOfPrefix(prefix), options: given.options }, PREFIX_OPTIONS, when);
  for (const location of modelLocations(declarations)) {
    if (isPlainObject(location.options)) yield* problemsAt(location, MODEL_OPTIONS, when);
    else if (when === 'early')
      yield problem(
        location.where,
        'this does not configure the junction',
        'Write an object with its options, such as { permissions: [IsAuthenticated] }.',
      );
  }
}

function* problemsAt(
  { where, options }: { readonly where: string; readonly options: object },
  rules: Readonly<Record<string, OptionRule>>,
  when: keyof OptionRule,
): Problems {
  for (const [name, given] of Object.entries(options) as readonly (readonly [string, unknown])[])
    for (const { at, what, repair } of (given !== undefined && ruleOf(name, rules)?.[when](given)) || [])
      yield problem(`${where}.${name}${at}`, what, repair);
}

/** Options on which the fields, filters or paths of a model depend. */
const STRUCTURAL = [
  'app',
  'name',
  'fields',
  'exclude',
  'type',
  'computed',
  'operations',
  'filterFields',
  'through',
];

/** What can still be verified beside options of a wrong type. */
export interface SoundInput {
  /** The input without these options. */
  readonly input: CompilerInput;
  /** Whether a problem of that input is one of the declarations, and does not result from what is left out. */
  isCertain(problem: DeclarationProblem): boolean;
}

export function omitFlawedOptions(input: CompilerInput, flaws: readonly DeclarationProblem[]): SoundInput {
  const isFlawed = (where: string): boolean =>
    flaws.some(
      (flaw) => flaw.where === where || ['.', '['].some((next) => flaw.where.startsWith(where + next)),
    );
  const sound = <Options extends object>(where: string, options: Options): Options =>
    Object.fromEntries(Object.entries(options).filter(([name]) => !isFlawed(`${where}.${name}`))) as Options;
  const names = input.declarations.map(({ declaration: { name } }) => name);
  const searched = names.filter((name) => isFlawed(`${name}.fullText`));
  const unclear = names.filter((name) => STRUCTURAL.some((option) => isFlawed(`${name}.${option}`)));
  return {
    input: {
      ...input,
      defaults: sound(nameOfPrefix(input.prefix), input.defaults),
      declarations: input.declarations.map((draft) => ({
        ...draft,
        declaration: {
          ...draft.declaration,
          options: sound(draft.declaration.name, draft.declaration.options),
        },
      })),
    },
    isCertain: ({ where }) =>
      !isFlawed(where) &&
      !searched.some((name) => where.startsWith(`${name}.searchFields`)) &&
      !where
        .split(', ')
        .some((place) => unclear.some((name) => place === name || place.startsWith(`${name}.`))),
  };
}
