import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { unique } from './problems.js';
import type { Problems } from './problems.js';
import { verifyActions, verifyKeyParameters } from './verify-actions.js';
import { verifyAggregates } from './verify-aggregates.js';
import { verifyBulk } from './verify-bulk.js';
import {
  verifyInheritedNames,
  verifyLayout,
  verifyListedClasses,
  verifyPaths,
  verifyPrefix,
  verifyStoredResponses,
  verifySupported,
} from './verify-entities.js';
import { verifyExpandable } from './verify-expandable.js';
import { verifyExpansionQueries } from './verify-expansion-queries.js';
import {
  verifyComputed,
  verifyFieldTypes,
  verifyLabel,
  verifyListenerRelations,
  verifyPropertyNames,
} from './verify-fields.js';
import { verifyFixedGrants } from './verify-fixed-grants.js';
import { verifyJunctions, verifyThrough, verifyOpenJunctions } from './verify-junctions.js';
import { verifyNested } from './verify-nested.js';
import { verifyOptionNames, verifyOptionValues } from './verify-options.js';
import { verifyPagination, verifyParameters, verifyRenamedParameters } from './verify-parameters.js';
import { verifyCustomFilters, verifyQueries } from './verify-queries.js';
import { verifyRelatedKeys } from './verify-related-keys.js';
import { verifyTrash } from './verify-trash.js';

const RULES = [
  verifyPrefix,
  verifyOptionNames,
  verifyListedClasses,
  verifyLayout,
  verifyPaths,
  verifySupported,
  verifyPropertyNames,
  verifyInheritedNames,
  verifyListenerRelations,
  verifyFieldTypes,
  verifyLabel,
  verifyComputed,
  verifyOptionValues,
  verifyQueries,
  verifyCustomFilters,
  verifyParameters,
  verifyRenamedParameters,
  verifyPagination,
  verifyExpandable,
  verifyExpansionQueries,
  verifyRelatedKeys,
  verifyNested,
  verifyTrash,
  verifyAggregates,
  verifyBulk,
  verifyStoredResponses,
  verifyJunctions,
  verifyThrough,
  verifyOpenJunctions,
  verifyActions,
  verifyKeyParameters,
  verifyFixedGrants,
] as const;

/** Rules about options in combination: where one of them is missing, they would report what is not wrong. */
const COMBINATIONS: ReadonlySet<(typeof RULES)[number]> = new Set([
  verifyParameters,
  verifyRenamedParameters,
  verifyExpandable,
  verifyExpansionQueries,
  verifyRelatedKeys,
  verifyAggregates,
  verifyNested,
  verifyBulk,
  verifyOpenJunctions,
]);

/** Runs all rules and collects their problems. */
export function problemsOfModel(input: CompilerInput, model: CompiledModel): readonly DeclarationProblem[] {
  return unique(run(RULES, input, model));
}

/** The problems of a model from which options are left out, or whose classes have no instances: without those of combinations. */
export function problemsOfPartialModel(
  input: CompilerInput,
  model: CompiledModel,
): readonly DeclarationProblem[] {
  const rules = RULES.filter((rule) => !COMBINATIONS.has(rule));
  return unique(run(rules, input, model));
}

function* run(
  rules: readonly ((input: CompilerInput, model: CompiledModel) => Problems)[],
  input: CompilerInput,
  model: CompiledModel,
): Problems {
  for (const rule of rules) yield* rule(input, model);
}
