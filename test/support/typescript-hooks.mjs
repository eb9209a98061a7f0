import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileTypeScript } from './compile-typescript.cjs';

const PACKAGE = new URL('../../src/index.ts', import.meta.url).href;

/** Resolves `./file.js` to `./file.ts` if that exists, and the package to its source. */
export function resolve(specifier, context, next) {
  if (specifier === 'nestjs-restify') return { url: PACKAGE, format: 'module', shortCircuit: true };
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  return compile(fileURLToPath(url));
}

/** The compiled module of a file, or of a text that replaces it. */
export function compile(filename, text) {
  return { format: 'module', source: compileTypeScript(filename, 'es6', text), shortCircuit: true };
}
