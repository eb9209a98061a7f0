import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import { storesResponses } from '../../core/contracts/idempotency.js';
import { IDEMPOTENCY_LIFE, MAX_IDEMPOTENCY_LIFE } from '../../core/schema/limits.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { optionLocations } from './option-locations.js';
import type { OptionLocation } from './option-locations.js';

const IDEMPOTENCY_REPAIR =
  'Write true, false or { require: true, life: 3600 }, with either of the two, and key: (actor) => … where actors have no id.';

/** Verifies the options of idempotency, and that the table of stored responses exists and is not exposed. */
export function verifyIdempotency(
  input: CompilerInput,
  _model: CompiledModel,
): readonly DeclarationProblem[] {
  const kept = input.description.entities.some(({ targets }) => targets.some(storesResponses));
  const places = optionLocations(input);
  return [
    ...places.flatMap(({ where, options: { idempotency } }) =>
      idempotencyProblems(`${where}.idempotency`, idempotency),
    ),
    ...(kept ? [] : places.filter(isOn).map(missingTable)),
    ...input.drafts.filter(({ entity }) => entity.targets.some(storesResponses)).map(served),
  ];
}

function isOn({ options: { idempotency } }: OptionLocation): boolean {
  return idempotency !== undefined && idempotency !== false;
}

function missingTable({ where }: OptionLocation): DeclarationProblem {
  return {
    where: `${where}.idempotency`,
    what: 'the data source has no table for the stored responses',
    repair:
      "Add IdempotencyRecord of 'nestjs-restify' to the data source's entities, and make its table, restify_idempotency, by a migration or synchronize.",
  };
}

function served({ declaration }: CompilerInput['drafts'][number]): DeclarationProblem {
  return {
    where: declaration.name,
    what: 'it stores the responses of all callers, and must not be served',
    repair: 'Take the declaration away, and leave the class among the entities of the data source.',
  };
}

function idempotencyProblems(where: string, given: unknown): readonly DeclarationProblem[] {
  if (given === undefined || typeof given === 'boolean') return [];
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [{ where, what: 'this does not configure Idempotency-Key', repair: IDEMPOTENCY_REPAIR }];
  const { require, life, key, ...rest } = given as Readonly<Record<string, unknown>>;
  return [
    ...Object.keys(rest).map((name) => ({
      where: `${where}.${name}`,
      what: `"${name}" is not an option of Idempotency-Key`,
      repair: IDEMPOTENCY_REPAIR,
    })),
    ...(require === undefined || typeof require === 'boolean'
      ? []
      : [{ where: `${where}.require`, what: 'this is neither true nor false', repair: IDEMPOTENCY_REPAIR }]),
    ...(life === undefined || isLife(life)
      ? []
      : [
          {
            where: `${where}.life`,
            what: 'this is not a valid time to keep responses',
            repair: `Give whole seconds, above 0 and up to ${MAX_IDEMPOTENCY_LIFE}; without the option they are ${IDEMPOTENCY_LIFE}.`,
          },
        ]),
    ...(key === undefined || typeof key === 'function'
      ? []
      : [
          {
            where: `${where}.key`,
            what: 'this is not a function',
            repair: 'Write key: (actor) => actor.email, with what tells one caller from another.',
          },
        ]),
  ];
}

function isLife(given: unknown): boolean {
  return typeof given === 'number' && Number.isInteger(given) && given > 0 && given <= MAX_IDEMPOTENCY_LIFE;
}
