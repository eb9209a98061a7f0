import { fileURLToPath } from 'node:url';
import { taggedSpecs } from '../../support/tags.mjs';
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

/**
 * As CommonJS, on NestJS 11 and TypeORM 0.3: the specs that can differ between the worlds, which have the tag `nest`, or all
 * of them with `RESTIFY_TEST_ALL=yes`.
 */
const SPECS = taggedSpecs().filter(
  ({ tags }) => tags.includes('nest') || process.env.RESTIFY_TEST_ALL === 'yes',
);

export default {
  ...RUN,
  projects: projectsOf({ ...WORLD, testMatch: SPECS.map(({ path }) => `<rootDir>/${path}`) }),
};
