/** The HTTP library that applications of a test stand on: `express`, or what `RESTIFY_TEST_PLATFORM` says. */
export const PLATFORM = process.env.RESTIFY_TEST_PLATFORM === 'fastify' ? 'fastify' : 'express';
