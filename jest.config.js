import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * The world of NestJS 12 and TypeORM 1: native ESM through swc, `NODE_OPTIONS=--experimental-vm-modules`. Types are checked
 * by `tsc --noEmit`. `test/worlds/nest-11/jest.config.js` has what differs in the world of NestJS 11.
 */
export default {
  rootDir: root,
  testEnvironment: 'node',
  // Applications boot and servers answer on machines that are shared: a test that hangs ends all the same.
  testTimeout: 30_000,
  maxWorkers: 2,
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
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
      },
    ],
  },
};
