'use strict';
// The hooks of typescript-hooks.mjs and test-globals-hooks.mjs for `require`. Packages are looked for in the world first,
// as test/worlds/nest-11/resolver.cjs does for Jest's own runner.
const { existsSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, sep } = require('node:path');
const { compileTypeScript } = require('../compile-typescript.cjs');

const ROOT = join(__dirname, '../../..');
const { RESTIFY_TEST_WORLD: WORLD } = process.env;
const PATHS = new Map([
  ['@jest/globals', join(__dirname, 'test-globals.cjs')],
  ['nestjs-restify', join(ROOT, 'src/index.ts')],
]);
const resolveFilename = Module._resolveFilename;

if (!existsSync(join(WORLD, 'node_modules')))
  throw new Error('The packages of this world are not installed: npm run worlds');

Module._resolveFilename = (...args) => {
  const [request, parent, isMain, options] = args;
  const from = parent?.filename;
  if (!from || from.includes(`${sep}node_modules${sep}`)) return resolveFilename(...args);
  const known = PATHS.get(request) ?? sourceOf(request, from);
  if (known !== undefined) return known;
  const isPackage = /^(@[\w-]+\/)?[\w-]/.test(request) && from.endsWith('.ts') && !Module.isBuiltin(request);
  if (!isPackage) return resolveFilename(...args);
  try {
    return resolveFilename(request, parent, isMain, { ...options, paths: [WORLD] });
  } catch {
    // A package of the file's own folder.
    return resolveFilename(...args);
  }
};

Module._extensions['.ts'] = (module, filename) => {
  module._compile(compileTypeScript(filename, 'commonjs'), filename);
};

function sourceOf(request, from) {
  if (!/^\.{1,2}\/.*\.js$/.test(request)) return undefined;
  const source = join(dirname(from), request.replace(/\.js$/, '.ts'));
  return existsSync(source) ? source : undefined;
}
