'use strict';
// Which package is SQLite's driver on this Node, without loading it (sqlite-driver.cjs).
const { join } = require('node:path');

const PACKAGE = 'better-sqlite3';
/** The package of SQLite's driver on this Node. */
const SQLITE_PACKAGE = Number(process.versions.node.split('.')[0]) >= 22 ? 'better-sqlite3-13' : PACKAGE;
/** The option of Node by which a process that is started has that package. Empty where nothing is to be replaced. */
const SQLITE_OPTION =
  SQLITE_PACKAGE === PACKAGE ? '' : `--require ${JSON.stringify(join(__dirname, 'sqlite-driver.cjs'))}`;

module.exports = { PACKAGE, SQLITE_OPTION, SQLITE_PACKAGE };
