// Bundles the package: dist/index.js (ESM) and dist/index.cjs (CommonJS), their types in index.d.ts and index.d.cts, and
// dist/page-assets.cjs, the browsable page, which both load when it is needed (scripts/build-ui.mjs has made it).
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
 * those that a request creates, which takes time in each request: its output is only read here.
 */
async function findRenamed() {
  const { outputFiles } = await build({ ...OPTIONS, format: 'esm', keepNames: true, write: false });
  const names = [];
  let current;
  for (const line of outputFiles[0].text.split('\n')) {
    const [, called, name] = /^__name\(([\w$]+), "([\w$]+)"\);$/.exec(line) ?? [];
    if (called !== name) names.push([called, name]);
    const [, variable, inner = variable] = /^var ([\w$]+) = class(?: (?!extends )([\w$]+))?/.exec(line) ?? [];
    if (variable !== undefined) current = { variable, inner };
    const [, ofClass] = /^ {4}__name\(this, "([\w$]+)"\);$/.exec(line) ?? [];
    if (ofClass !== undefined && ofClass !== current.inner) names.push([current.variable, ofClass]);
  }
  return names;
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

mkdirSync(join(root, 'dist'), { recursive: true });
const footer = { js: restoreNames(await findRenamed()) };
await Promise.all([
  build({ ...OPTIONS, ...LAYOUT, footer, format: 'esm', outfile: 'dist/index.js' }),
  build({
    ...OPTIONS,
    ...LAYOUT,
    footer,
    format: 'cjs',
    outfile: 'dist/index.cjs',
    // `require` in place of `import()`, which Jest has in CommonJS only with a flag of Node.
    supported: { 'dynamic-import': false },
  }),
  bundleTypes(),
]);
for (const name of ['index.js', 'index.cjs']) {
  // esbuild escapes texts, but not regular expressions.
  const [found] = /[^\0-\x7f].*/.exec(readFileSync(join(root, 'dist', name), 'utf8')) ?? [];
  if (found !== undefined)
    throw new Error(`dist/${name} is not ASCII, which doubles its size in memory: ${found}`);
}
copyFileSync(join(root, 'ui/assets.cjs'), join(root, 'dist/page-assets.cjs'));
