import type { CompiledModel } from '../compile-resources.js';
import type { Blueprint } from '../blueprint.js';
import { lateAuthGuards } from './late-auth-guards.js';
import { openModels } from './open-models.js';
import { untypedFields } from './untyped-fields.js';
import { unmappedRelations } from './unmapped-relations.js';
import { unheededDecorators } from './ignored-decorators.js';
import { junctionWarnings } from './verify-junctions.js';

/** What an author should know of a model, and is no reason not to start: sentences for the log. */
export function warningsOfModel(blueprint: Blueprint, model: CompiledModel): readonly string[] {
  return [
    ...openModels(blueprint),
    ...lateAuthGuards(blueprint),
    ...untypedFields(blueprint),
    ...unmappedRelations(blueprint),
    ...junctionWarnings(blueprint, model),
    ...unheededDecorators(blueprint, model),
  ];
}
