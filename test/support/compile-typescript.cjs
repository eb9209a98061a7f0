'use strict';
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { transformSync, version } = require('@swc/core');

/** How the TypeScript of the repository is compiled for tests: by Jest's transform, and by the hooks for Node's loaders. */
const SWC_OPTIONS = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
};
/** Compiled files by the hash of their path, their text and the options, kept between runs. */
const CACHE = join(tmpdir(), 'nestjs-restify-typescript');

mkdirSync(CACHE, { recursive: true });

/** JavaScript of a TypeScript file, as ES module (`es6`) or CommonJS (`commonjs`), without a check of types. */
function compileTypeScript(filename, format, text = readFileSync(filename, 'utf8')) {
  const options = { ...SWC_OPTIONS, module: { type: format }, sourceMaps: 'inline', swcrc: false };
  const key = [version, JSON.stringify(options), filename, text].join('\0');
  const cached = join(CACHE, createHash('sha256').update(key).digest('hex'));
  if (existsSync(cached)) return readFileSync(cached, 'utf8');
  const { code } = transformSync(text, { ...options, filename });
  // Renamed, so that another process never reads half of it.
  const own = `${cached}.${process.pid}`;
  writeFileSync(own, code);
  renameSync(own, cached);
  return code;
}

module.exports = { SWC_OPTIONS, compileTypeScript };
