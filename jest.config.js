import { fileURLToPath } from 'node:url';
import { SQLITE_PACKAGE } from './scripts/sqlite-package.cjs';
import { SWC_OPTIONS } from './test/support/compile-typescript.cjs';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Of a whole run, in both worlds. */
export const RUN = {
  // Ends a test that hangs. It is wall time, so it is far above what any test takes on a machine with other work: what a
  // test costs is measured by statements and CPU time.
  testTimeout: 180_000,
  maxWorkers: 2,
};

/** What both worlds share, and both projects of this one. */
export const PROJECT = {
  rootDir: root,
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  globals: {
    RESTIFY_WORLD: {
      name: 'nest-12',
      format: 'esm',
      directory: root,
      tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
    },
  },
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^nestjs-restify$': '<rootDir>/src/index.ts',
    '^better-sqlite3$': SQLITE_PACKAGE,
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': ['@swc/jest', SWC_OPTIONS],
  },
};

/**
 * They mock or isolate modules, count what the process holds, or load all entities that @nestjs/typeorm has been given in
 * the process (`autoLoadEntities`): each gets a module graph of its own by Jest's runner.
 */
const ISOLATED = [
  'src/adapters/class-validator/entity-validator.spec.ts',
  'test/boot/module.spec.ts',
  'test/boot/unknown-entities.spec.ts',
  'test/docs/docs.spec.ts',
  'test/faults/listeners.spec.ts',
  'test/faults/shutdown.spec.ts',
];

/** A world's files, by the runner that shares modules between them and by Jest's own. */
export function projectsOf(world) {
  return [
    {
      ...world,
      runner: '<rootDir>/test/support/runner/process-runner.mjs',
      testPathIgnorePatterns: ['/node_modules/', ...ISOLATED.map((path) => `/${path}$`)],
    },
    { ...world, testMatch: ISOLATED.map((path) => `<rootDir>/${path}`) },
  ];
}

/**
 * The world of NestJS 12 and TypeORM 1: native ES modules compiled by swc. Types are checked by `tsc --noEmit`.
 * `test/worlds/nest-11/jest.config.js` has what differs in the world of NestJS 11.
 */
export default { ...RUN, projects: projectsOf(PROJECT) };
