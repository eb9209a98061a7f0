'use strict';
const { existsSync } = require('node:fs');
const { join, sep } = require('node:path');

if (!existsSync(join(__dirname, 'node_modules')))
  throw new Error('The packages of this world are not installed: npm run worlds');

/** What the source and the tests import by its name is looked for here first, then in the project's own node_modules. */
module.exports = (request, options) => {
  const isPackage = /^(@[\w-]+\/)?[\w-]/.test(request);
  const ofTheProject = !options.basedir.includes(`${sep}node_modules${sep}`);
  return options.defaultResolver(
    request,
    isPackage && ofTheProject ? { ...options, basedir: __dirname } : options,
  );
};
