import { fileURLToPath } from 'node:url';
import nest12 from '../../../jest.config.js';

/** The same tests as CommonJS, on NestJS 11 and TypeORM 0.3. */
export default {
  ...nest12,
  globals: {
    RESTIFY_WORLD: {
      name: 'nest-11',
      format: 'cjs',
      directory: fileURLToPath(new URL('.', import.meta.url)),
      tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
    },
  },
  extensionsToTreatAsEsm: [],
  resolver: '<rootDir>/test/worlds/nest-11/resolver.cjs',
  // What clients send and read is the same bytes in both worlds.
  // What can differ between the two Fastify adapters is in these; what is behind them is tried on Fastify in the other world.
  testPathIgnorePatterns: [
    '/node_modules/',
    '/test/clients/',
    '/test/fastify/(?!(fastify|headers|paths-and-index|actions|overrides)\\.spec)',
  ],
};
