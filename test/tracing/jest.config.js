import { PROJECT, RUN } from '../../jest.config.js';
import nest11 from '../worlds/nest-11/jest.config.js';

const [nest11Project] = nest11.projects;

/**
 * What Nest, Express and Fastify call: methods of the application, permissions, guards, writes, streams. A tracer wraps it.
 * Jest's own loader would bypass the tracers, so that these run by the runner of Node's processes only.
 */
const SPECS = [
  'action-bodies',
  'actions',
  'around-handlers',
  'bulk-writes',
  'conditional-overriding',
  'grants',
  'guards-authenticate',
  'hooks',
  'idempotency',
  'long-lists',
  'nested-lists',
  'operations',
  'overrides',
  'through-objects',
  'trash-beside-features',
  'wrapped-handlers',
];
/** Under Sentry, which uses OpenTelemetry: those with methods of the application. */
const SPECS_OF_SENTRY = ['actions', 'around-handlers', 'overrides', 'wrapped-handlers'];

function project(world, tracer, specs) {
  return {
    ...PROJECT,
    ...world,
    displayName: `${world.globals.RESTIFY_WORLD.name}, ${tracer}`,
    globals: { ...world.globals, RESTIFY_TRACER: tracer },
    runner: '<rootDir>/test/support/runner/process-runner.mjs',
    testMatch: [
      ...['features', 'fastify'].flatMap((folder) =>
        specs.map((name) => `<rootDir>/test/${folder}/${name}.spec.ts`),
      ),
      '<rootDir>/test/tracing/*.traced.ts',
    ],
  };
}

export default {
  ...RUN,
  projects: [PROJECT, nest11Project].flatMap((world) => [
    project(world, 'otel', SPECS),
    project(world, 'sentry', SPECS_OF_SENTRY),
  ]),
};
