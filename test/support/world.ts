/** The versions of Nest and TypeORM that a run of the tests is on; its Jest configuration says which. */
export interface World {
  readonly name: 'nest-12' | 'nest-11';
  /** What the source and the tests are compiled to, and in what the applications of this world are written. */
  readonly format: 'esm' | 'cjs';
  /** Node finds the packages of this world, and the built package by its name, from any file below. */
  readonly directory: string;
  /** Types of the source and the tests against this world's packages. */
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
