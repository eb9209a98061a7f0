import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { lateAuthGuards } from './late-auth-guards.js';
import { openModelWarnings } from './open-models.js';
import { untypedFields } from './untyped-fields.js';
import { unmappedRelationWarnings } from './unmapped-relations.js';
import { ignoredDecorators } from './ignored-decorators.js';
import { polymorphicColumnWarnings } from './polymorphic-columns.js';
import { junctionWarnings } from './verify-junctions.js';

/** Warnings about a model, which do not prevent the start: sentences for the log. */
export function modelWarnings(input: CompilerInput, model: CompiledModel): readonly string[] {
  return [
    ...openModelWarnings(input),
    ...lateAuthGuards(input),
    ...untypedFields(input),
    ...unmappedRelationWarnings(input),
    ...junctionWarnings(input, model),
    ...polymorphicColumnWarnings(input),
    ...ignoredDecorators(input, model),
  ];
}
