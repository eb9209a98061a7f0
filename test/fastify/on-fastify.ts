/** Imported before a spec, it has that spec's applications stand on Fastify. */
process.env.RESTIFY_TEST_PLATFORM = 'fastify';
