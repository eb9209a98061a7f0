/** The versions of Nest and TypeORM of a test run, which its Jest configuration selects. */
export interface World {
  readonly name: 'nest-12' | 'nest-11';
  /** The module format of the compiled source, of the tests and of the applications. */
  readonly format: 'esm' | 'cjs';
  /** A folder in which Node resolves the packages of this world, and the built package by its name. */
  readonly directory: string;
  /** The TypeScript configuration that checks the source and the tests against the packages of this world. */
  readonly tsconfig: string;
}

declare global {
  var RESTIFY_WORLD: World | undefined;
}

function world(): World {
  if (!globalThis.RESTIFY_WORLD)
    throw new Error(
      'This run has no RESTIFY_WORLD: it has another configuration than jest.config.js or test/worlds/*/jest.config.js',
    );
  return globalThis.RESTIFY_WORLD;
}

export const WORLD = world();
