// @tags http
import './on-fastify.js';
import '../features/lookups.spec.js';
import '../features/filter-groups.spec.js';
import '../features/own-filters.spec.js';
