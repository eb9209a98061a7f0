// Bundles the package: dist/package.cjs, all code as one function of the peer dependencies, which dist/index.js (ESM, by
// dist/load-package.cjs) and dist/index.cjs (CommonJS) call with the peers that they import; their types in index.d.ts and index.d.cts; and
// dist/page-assets.cjs, the browsable page, which is loaded when it is needed (scripts/build-ui.mjs has made it).
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The page is a file of its own in `dist`: most applications never load it. */
const EXTERNAL_PAGE = {
  name: 'external-page',
  setup({ onResolve }) {
    onResolve({ filter: /\/ui\/assets\.cjs$/ }, () => ({ path: './page-assets.cjs', external: true }));
  },
};

const OPTIONS = {
  absWorkingDir: root,
  entryPoints: ['src/index.ts'],
  tsconfig: 'tsconfig.json',
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: `node${/\d+\.\d+/.exec(engines.node)[0]}`,
  plugins: [EXTERNAL_PAGE],
  logLevel: 'warning',
};

/** Lines of 2,000 characters with all names: a stack trace leads to a line that can be read. Shorter ones make a larger package; not indented, they are a tenth smaller. */
const LAYOUT = { minifyWhitespace: true, minifySyntax: true, lineLimit: 2000 };

/**
 * The top-level functions and classes that the bundle names differently than the source, because another file has the name, or
 * because the class refers to itself: `[identifier, name]`. esbuild's own `keepNames` restores the names of all functions, also of
 * those that a request creates, which takes time in each request: its output is only read here. Also the names of all exports.
 */
async function findNames() {
  const output = await build({
    ...OPTIONS,
    format: 'esm',
    keepNames: true,
    metafile: true,
    outfile: 'dist/index.js',
    write: false,
  });
  const renamed = [];
  let current;
  for (const line of output.outputFiles[0].text.split('\n')) {
    const [, called, name] = /^__name\(([\w$]+), "([\w$]+)"\);$/.exec(line) ?? [];
    if (called !== name) renamed.push([called, name]);
    const [, variable, inner = variable] = /^var ([\w$]+) = class(?: (?!extends )([\w$]+))?/.exec(line) ?? [];
    if (variable !== undefined) current = { variable, inner };
    const [, ofClass] = /^ {4}__name\(this, "([\w$]+)"\);$/.exec(line) ?? [];
    if (ofClass !== undefined && ofClass !== current.inner) renamed.push([current.variable, ofClass]);
  }
  return { renamed, exported: output.metafile.outputs['dist/index.js'].exports };
}

function restoreNames(names) {
  const pairs = names.map(([identifier, name]) => `[${identifier},${JSON.stringify(name)}]`);
  return `for (const [named, name] of [\n${pairs.join(',\n')}\n]) Object.defineProperty(named, 'name', { value: name, configurable: true });`;
}

async function bundleTypes() {
  const bundle = await rollup({
    input: join(root, 'src/index.ts'),
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    // `npm run typecheck` checks types. `@internal` is what Nest calls, for example the constructors of services.
    plugins: [
      dts({ tsconfig: join(root, 'tsconfig.json'), compilerOptions: { noCheck: true, stripInternal: true } }),
    ],
    onLog: (_, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({});
  const types = describeExportsOnly(output[0].code);
  for (const name of ['index.d.ts', 'index.d.cts']) writeFileSync(join(root, 'dist', name), types);
}

/** Types without the comments of those that are not exported: two copies of these would take 11 kB of the packed package. */
function describeExportsOnly(types) {
  const file = ts.createSourceFile('index.d.ts', types, ts.ScriptTarget.Latest);
  const names = file.statements
    .filter(ts.isExportDeclaration)
    .flatMap(({ exportClause }) =>
      exportClause.elements.map((each) => (each.propertyName ?? each.name).text),
    );
  const exported = new Set(names);
  return file.statements
    .map((statement) => {
      const text = types.slice(statement.pos, statement.end);
      const isOwn = statement.name === undefined || exported.has(statement.name.text);
      return isOwn ? text : text.replace(/[ \t]*\/\*\*[^]*?\*\/\n/g, '');
    })
    .join('');
}

/** The bundle without imports of peers: `require("x")` and `import("x")` become members of the arguments. Also the names of both. */
function acceptPeers(bundle) {
  const peers = new Set();
  const optionalPeers = new Set();
  const body = bundle
    .replace(/\brequire\("(?!node:|\.)([^"]+)"\)/g, (_, name) => {
      peers.add(name);
      return `peers[${JSON.stringify(name)}]`;
    })
    .replace(/\bimport\("(?!\.)([^"]+)"\)/g, (_, name) => {
      optionalPeers.add(name);
      return `optionalPeers[${JSON.stringify(name)}]()`;
    })
    // `import()` of CommonJS in CommonJS needs a flag of Node in Jest.
    .replace(
      'import("./page-assets.cjs")',
      'Promise.resolve().then(()=>({default:require("./page-assets.cjs")}))',
    );
  // In parentheses the function is compiled with the file, not parsed once more when it is called.
  const text = `"use strict";module.exports=(function(peers,optionalPeers){var module={exports:{}};${body}\nreturn module.exports});\n`;
  return { text, peers: [...peers], optionalPeers: [...optionalPeers] };
}

const quote = (text) => JSON.stringify(text);

/** Between `index.js` and `package.cjs`: of a CommonJS module that ESM imports, Node reads all text for names of exports, which takes three times as long as to run it. */
const LOAD_PACKAGE = `'use strict';\nexports.createPackage = (peers, optionalPeers) => require('./package.cjs')(peers, optionalPeers);\n`;

function writeEsmEntry({ peers, optionalPeers }, names) {
  return [
    `import { createPackage } from './load-package.cjs';`,
    ...peers.map((name, index) => `import * as peer${index} from ${quote(name)};`),
    `export const {\n${names.join(',\n')}\n} = createPackage({\n${peers.map((name, index) => `${quote(name)}: peer${index},`).join('\n')}\n}, {`,
    ...optionalPeers.map((name) => `${quote(name)}: () => import(${quote(name)}),`),
    `});\n`,
  ].join('\n');
}

/** Optional peers are required, not imported: Jest has `import()` in CommonJS only with a flag of Node. */
function writeCommonJsEntry({ peers, optionalPeers }, names) {
  return [
    `'use strict';`,
    `const createPackage = require('./package.cjs');`,
    `const toNamespace = (loaded) => (loaded.__esModule ? loaded : { ...loaded, default: loaded });`,
    `module.exports = createPackage({`,
    ...peers.map((name) => `${quote(name)}: require(${quote(name)}),`),
    `}, {`,
    ...optionalPeers.map((name) => `${quote(name)}: async () => toNamespace(require(${quote(name)})),`),
    `});`,
    `// The names of the exports, for \`import\` of this file.`,
    `0 && (module.exports = {\n${names.join(',\n')}\n});\n`,
  ].join('\n');
}

mkdirSync(join(root, 'dist'), { recursive: true });
const { renamed, exported } = await findNames();
const [{ outputFiles }] = await Promise.all([
  build({ ...OPTIONS, ...LAYOUT, footer: { js: restoreNames(renamed) }, format: 'cjs', write: false }),
  bundleTypes(),
]);
const bundle = acceptPeers(outputFiles[0].text);
// esbuild escapes texts, but not regular expressions.
const [found] = /[^\0-\x7f].*/.exec(bundle.text) ?? [];
if (found !== undefined)
  throw new Error(`dist/package.cjs is not ASCII, which doubles its size in memory: ${found}`);
writeFileSync(join(root, 'dist/package.cjs'), bundle.text);
writeFileSync(join(root, 'dist/load-package.cjs'), LOAD_PACKAGE);
writeFileSync(join(root, 'dist/index.js'), writeEsmEntry(bundle, exported));
writeFileSync(join(root, 'dist/index.cjs'), writeCommonJsEntry(bundle, exported));
copyFileSync(join(root, 'ui/assets.cjs'), join(root, 'dist/page-assets.cjs'));
