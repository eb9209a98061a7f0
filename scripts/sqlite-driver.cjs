'use strict';
// Lets `better-sqlite3` be version 13 on Node 22 and newer, in every module of a process, TypeORM included:
// node --require ./scripts/sqlite-driver.cjs <program>. Version 12 aborts processes on Node 24, and 13 needs Node 22
// (decision 5). The sample application, the tests and the benchmark run with it.
const { registerHooks } = require('node:module');
const { isInternalThread } = require('node:worker_threads');

const { PACKAGE, SQLITE_PACKAGE } = require('./sqlite-package.cjs');

// The thread in which Node runs asynchronous hooks of modules loads this file too, and Node 22 has no synchronous hooks there.
if (SQLITE_PACKAGE !== PACKAGE && isInternalThread !== true)
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === PACKAGE ? SQLITE_PACKAGE : specifier, context),
  });
