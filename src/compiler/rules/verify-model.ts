import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { verifyTimeouts } from './verify-timeouts.js';
import { verifyActions } from './verify-actions.js';
import { verifyAuthentication } from './verify-authentication.js';
import { verifyBulk } from './verify-bulk.js';
import { verifyComputed } from './verify-computed.js';
import { verifyExpandable } from './verify-expandable.js';
import { verifyConditional } from './verify-conditional.js';
import { verifyIdempotency } from './verify-idempotency.js';
import { verifyInheritedNames } from './verify-inherited-names.js';
import { verifyJunctions } from './verify-junctions.js';
import { verifyKeyParameters } from './verify-key-parameters.js';
import { verifyLayout } from './verify-layout.js';
import { verifyListedClasses } from './verify-listed-classes.js';
import { verifyCustomFilters } from './verify-own-filters.js';
import { verifyOptionNames } from './verify-option-names.js';
import { verifyPrefix } from './verify-prefix.js';
import { verifyOperations } from './verify-operations.js';
import { verifyPagination } from './verify-pagination.js';
import { verifyParameters } from './verify-parameters.js';
import { verifyRenamedParameters } from './verify-renamed-parameters.js';
import { verifyRefusals } from './verify-refusals.js';
import { verifyRenderers } from './verify-renderers.js';
import { verifyPaths } from './verify-paths.js';
import { verifyPropertyNames } from './verify-property-names.js';
import { verifyQueries } from './verify-queries.js';
import { verifyQueryLimits } from './verify-query-limits.js';
import { verifyFieldSelection } from './verify-shape.js';
import { verifyListenerRelations } from './verify-listener-relations.js';
import { verifyOpenJunctions } from './verify-open-junctions.js';
import { verifyShutdownGrace } from './verify-shutdown-grace.js';
import { verifyLabel } from './verify-label.js';
import { verifyFieldTypes } from './verify-field-types.js';
import { verifyThrough } from './verify-through.js';
import { verifySupported } from './verify-supported.js';

const RULES = [
  verifyPrefix,
  verifyTimeouts,
  verifyShutdownGrace,
  verifyAuthentication,
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
  verifyOperations,
  verifyQueries,
  verifyCustomFilters,
  verifyQueryLimits,
  verifyParameters,
  verifyRenamedParameters,
  verifyPagination,
  verifyRefusals,
  verifyRenderers,
  verifyFieldSelection,
  verifyExpandable,
  verifyConditional,
  verifyBulk,
  verifyIdempotency,
  verifyJunctions,
  verifyThrough,
  verifyOpenJunctions,
  verifyActions,
  verifyKeyParameters,
] as const;

/** Runs all rules and collects their problems. */
export function problemsOfModel(input: CompilerInput, model: CompiledModel): readonly DeclarationProblem[] {
  return RULES.flatMap((rule) => rule(input, model));
}
