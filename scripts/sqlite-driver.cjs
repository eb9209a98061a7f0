'use strict';
// Lets `better-sqlite3` be version 13 on Node 22 and newer, in every module of a process, TypeORM included:
// node --require ./scripts/sqlite-driver.cjs <program>. Version 12 aborts processes on Node 24, and 13 needs Node 22
// (decision 5). The sample application, the tests and the benchmark run with it.
const { registerHooks } = require('node:module');

const PACKAGE = 'better-sqlite3';
/** The package of SQLite's driver on this Node. */
const SQLITE_PACKAGE = Number(process.versions.node.split('.')[0]) >= 22 ? 'better-sqlite3-13' : PACKAGE;
/** The option of Node by which a process that is started loads this file. Empty where nothing is to be replaced. */
const SQLITE_OPTION = SQLITE_PACKAGE === PACKAGE ? '' : `--require ${JSON.stringify(__filename)}`;

if (SQLITE_PACKAGE !== PACKAGE)
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === PACKAGE ? SQLITE_PACKAGE : specifier, context),
  });

module.exports = { SQLITE_OPTION, SQLITE_PACKAGE };
