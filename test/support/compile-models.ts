import { compileResources } from '../../src/compiler/compile-resources.js';
import type { CompiledModel } from '../../src/compiler/compile-resources.js';
import type { ResourceParts, CompilerInput, EntityDeclaration } from '../../src/compiler/compiler-input.js';
import { problemsOfModel } from '../../src/compiler/rules/verify-model.js';
import type { CompiledPermission } from '../../src/core/contracts/permission.js';
import type { EntityDescription, ModelDescription } from '../../src/core/schema/entity-metadata.js';
import { declarations } from '../../src/decorators/metadata-storage.js';
import { FieldFilter } from '../../src/features/filtering/field-filter.js';
import { OrderingFilter } from '../../src/features/filtering/ordering-filter.js';
import { SearchFilter } from '../../src/features/filtering/search-filter.js';
import { AllowAny } from '../../src/features/permissions/built-in-permissions.js';
import { ModelSerializer } from '../../src/features/serialization/model-serializer.js';
import { resolveOptions } from '../../src/restify.options.js';

const OPTIONS = resolveOptions('rest/v1', {});
const NO_PERMISSION: CompiledPermission = { kind: 'all-of', permissions: [] };

/** Compiles the declared entities. There is no injector, so permissions are not enforced and there are no controllers. */
export function compileModels(description: ModelDescription): CompiledModel {
  const declared = description.entities.flatMap((entity) => declarationOf(entity) ?? []);
  const input: CompilerInput = {
    ...OPTIONS,
    takenPrefixes: [],
    description,
    declarations: declared,
    allowAny: AllowAny,
    listed: [],
    controllers: [],
    laidOut: new Set(declared.map(({ declaration }) => declaration.target)),
  };
  const model = compileResources(input, createParts());
  const problems = problemsOfModel(input, model);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return model;
}

function declarationOf(entity: EntityDescription): EntityDeclaration | undefined {
  const declaration = entity.targets
    .map((target) => declarations().get(target as object))
    .find((each) => each !== undefined);
  return (
    declaration && {
      declaration,
      entity,
      app: declaration.options.app,
      model: declaration.options.name ?? declaration.name.toLowerCase(),
    }
  );
}

function createParts(): ResourceParts {
  const serializer = new ModelSerializer();
  const backends = [new FieldFilter(), new SearchFilter(), new OrderingFilter()];
  return {
    backends: () => backends,
    serializer: () => ({ serializer, hasDefaultSerializer: true }),
    permission: () => NO_PERMISSION,
    permissions: () => NO_PERMISSION,
    authentication: () => ({ schemes: [], guards: [], lateGuards: [] }),
    refusalsThrottled: false,
    interceptors: () => [],
    piping: () => undefined,
    hooks: () => ({ hooks: {}, scope: undefined }),
    recording: () => undefined,
  };
}
