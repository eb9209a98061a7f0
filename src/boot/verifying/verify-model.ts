import { DeclarationError } from '../../errors/declaration-error.js';
import type { CompiledModel } from '../compiling/compile-resources.js';
import type { Blueprint } from '../compiling/draft.js';
import { verifyComputed } from './verify-computed.js';
import { verifyJunctions } from './verify-junctions.js';
import { verifyLayout } from './verify-layout.js';
import { verifyListedClasses } from './verify-listed-classes.js';
import { verifyOperations } from './verify-operations.js';
import { verifyParameters } from './verify-parameters.js';
import { verifyPaths } from './verify-paths.js';
import { verifyPropertyNames } from './verify-property-names.js';
import { verifyQueries } from './verify-queries.js';
import { verifySupported } from './verify-supported.js';

const RULES = [
  verifyListedClasses,
  verifyLayout,
  verifyPaths,
  verifySupported,
  verifyPropertyNames,
  verifyComputed,
  verifyOperations,
  verifyQueries,
  verifyParameters,
  verifyJunctions,
] as const;

/** Throws one `DeclarationError` with all that is wrong. */
export function verifyModel(blueprint: Blueprint, model: CompiledModel): void {
  const problems = RULES.flatMap((rule) => rule(blueprint, model));
  if (problems.length > 0) throw new DeclarationError(problems);
}
