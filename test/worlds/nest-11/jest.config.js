import { fileURLToPath } from 'node:url';
import { PROJECT, projectsOf, RUN } from '../../../jest.config.js';

const WORLD = {
  ...PROJECT,
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
};

/** The same tests as CommonJS, on NestJS 11 and TypeORM 0.3. */
export default {
  ...RUN,
  projects: projectsOf({
    ...WORLD,
    // What clients send and read is the same bytes in both worlds. What can differ between the two Fastify adapters is in
    // these; what is behind them is tried on Fastify in the other world.
    testMatch: [
      '<rootDir>/{src,test}/**/!(*fastify)/*.spec.ts',
      '<rootDir>/test/fastify/{fastify,headers,paths-and-index,actions,overrides}.spec.ts',
      '!**/test/clients/**',
    ],
  }),
};
