import type { InjectableClass, RestifyOptions } from '../../decorators/model-options.js';
import { problem } from './problems.js';
import type { Problems } from './problems.js';

/** The permission classes in an expression of `allOf`, `anyOf` and `not`. */
export type ClassesOfOptions = Pick<
  RestifyOptions,
  'filterBackends' | 'guards' | 'interceptors' | 'pipes' | 'serializer'
> & {
  readonly permissions: readonly InjectableClass<unknown>[];
  readonly onError?: InjectableClass<unknown> | undefined;
  readonly afterCommit?: InjectableClass<unknown> | undefined;
};

/** The methods that are called on instances of the classes in an option, and what such a class does. */
const ROLES = {
  permissions: { methods: ['decide'], does: 'implements Permission' },
  filterBackends: { methods: ['filter'], does: 'implements FilterBackend' },
  guards: { methods: ['canActivate'], does: 'implements CanActivate' },
  interceptors: { methods: ['intercept'], does: 'implements NestInterceptor' },
  pipes: { methods: ['transform'], does: 'implements PipeTransform' },
  serializer: { methods: ['represent', 'parse'], does: 'extends ModelSerializer' },
  onError: { methods: ['onError'], does: 'implements ErrorListener' },
  afterCommit: { methods: ['afterCommit'], does: 'implements AfterCommit' },
} satisfies Record<keyof ClassesOfOptions, unknown>;

/**
 * Reports classes without the methods that their option requires: every request would fail. Checks the instances, because a
 * method may be a property; those of providers exist once the application has started its modules.
 */
export function* missingMethods(
  given: readonly ClassesOfOptions[],
  instances: ReadonlyMap<unknown, unknown>,
): Problems {
  for (const [option, { methods, does }] of Object.entries(ROLES)) {
    const listed = given.flatMap((options) => options[option as keyof ClassesOfOptions] ?? []);
    for (const type of new Set<InjectableClass<unknown>>(listed)) {
      const instance = instances.get(type) as Readonly<Record<string, unknown>>;
      const missing = methods.find((method) => typeof instance[method] !== 'function');
      if (missing !== undefined)
        yield problem(`${option}: ${type.name}`, `it has no method ${missing}`, `Name a class that ${does}.`);
    }
  }
}
