/** The HTTP library of test applications: `express`, or the value of `RESTIFY_TEST_PLATFORM`. */
export const PLATFORM = process.env.RESTIFY_TEST_PLATFORM === 'fastify' ? 'fastify' : 'express';
