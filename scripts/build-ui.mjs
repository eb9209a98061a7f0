// Bundles the browsable page into one CommonJS module, ui/assets.cjs, which both formats of the package load.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { minify } from '@swc/core';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

async function bundle(entry, options = {}) {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'ui/src', entry)],
    bundle: true,
    minify: true,
    write: false,
    // Browsers of 2023 and later.
    target: ['chrome109', 'firefox115', 'safari16.4'],
    legalComments: 'inline',
    logLevel: 'warning',
    ...options,
  });
  return outputFiles[0].text;
}

function asset(text, extension) {
  return { name: `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${extension}`, text };
}

/** The licence of the library that the bundle contains: its own files have none in a comment. */
const LICENCE = '/*! Contains preact, MIT License, Copyright (c) 2015-present Jason Miller */\n';

const bundled = await bundle('main.tsx', { format: 'iife', jsx: 'automatic', jsxImportSource: 'preact' });
// swc inlines what esbuild leaves: a thirtieth of the compressed script.
const { code } = await minify(bundled, { module: false, ecma: 2020, compress: { passes: 2 }, mangle: true });
const script = asset(LICENCE + code, 'js');
const style = asset(await bundle('style.css'), 'css');
writeFileSync(join(root, 'ui/assets.cjs'), `module.exports = ${JSON.stringify({ script, style })};\n`);
