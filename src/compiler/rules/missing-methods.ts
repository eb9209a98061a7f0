import type { InjectableClass, RestifyOptions } from '../../decorators/model-options.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';

/** Classes in an option, with the methods that are called on their instances. */
interface Role {
  readonly option: string;
  readonly methods: readonly string[];
  readonly repair: string;
  readonly of: (options: ClassesOfOptions) => readonly InjectableClass<unknown>[];
}

/** The permission classes in an expression of `allOf`, `anyOf` and `not`. */
export type ClassesOfOptions = Pick<
  RestifyOptions,
  'filterBackends' | 'guards' | 'interceptors' | 'pipes' | 'serializer'
> & {
  readonly permissions: readonly InjectableClass<unknown>[];
  readonly onError?: InjectableClass<unknown> | undefined;
};

const ROLES: readonly Role[] = [
  {
    option: 'permissions',
    methods: ['decide'],
    repair: 'Name a class that implements Permission.',
    of: ({ permissions }) => permissions,
  },
  {
    option: 'filterBackends',
    methods: ['filter'],
    repair: 'Name a class that implements FilterBackend.',
    of: ({ filterBackends = [] }) => filterBackends,
  },
  {
    option: 'guards',
    methods: ['canActivate'],
    repair: 'Name a class that implements CanActivate.',
    of: ({ guards = [] }) => guards,
  },
  {
    option: 'interceptors',
    methods: ['intercept'],
    repair: 'Name a class that implements NestInterceptor.',
    of: ({ interceptors = [] }) => interceptors,
  },
  {
    option: 'pipes',
    methods: ['transform'],
    repair: 'Name a class that implements PipeTransform.',
    of: ({ pipes = [] }) => pipes,
  },
  {
    option: 'serializer',
    methods: ['represent', 'parse'],
    repair: 'Name a class that extends ModelSerializer.',
    of: ({ serializer }) => (serializer ? [serializer] : []),
  },
  {
    option: 'onError',
    methods: ['onError'],
    repair: 'Name a class that implements ErrorListener.',
    of: ({ onError }) => (onError ? [onError] : []),
  },
];

/**
 * Reports classes without the methods that their option requires: every request would fail. Checks the instances, because a
 * method may be a property; those of providers exist once the application has started its modules.
 */
export function missingMethods(
  given: readonly ClassesOfOptions[],
  instances: ReadonlyMap<unknown, unknown>,
): readonly DeclarationProblem[] {
  return ROLES.flatMap(({ option, methods, repair, of }) =>
    [...new Set(given.flatMap(of))].flatMap((type): readonly DeclarationProblem[] => {
      const instance = instances.get(type) as Readonly<Record<string, unknown>>;
      const missing = methods.find((method) => typeof instance[method] !== 'function');
      return missing === undefined
        ? []
        : [{ where: `${option}: ${type.name}`, what: `it has no method ${missing}`, repair }];
    }),
  );
}
