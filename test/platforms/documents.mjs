// Tries the documents as a newcomer would: node test/platforms/documents.mjs [names]. For each tab of the quick start it runs the commands
// in an empty folder, with the packed package in place of the one on npm, writes the examples of the pages that are read below src/, and
// expects that they compile and that their specs pass. Expects `npm run build`; installs packages from npm in a temporary folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EVERYDAY, navigationOf } from '../../site/pages.mjs';
import { wholeExample } from '../../site/scaffolding.cjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { NODE_OPTIONS: _, ...ENVIRONMENT } = process.env;
/** What single pages install, by the major version of NestJS. */
const PACKAGES = (major) => [
  ...['jwt', 'swagger', 'passport'].map((name) => `@nestjs/${name}@${major}`),
  `@nestjs/platform-fastify@${major}`,
  ...['passport', 'passport-jwt', 'class-validator', 'class-transformer'],
  ...['@types/passport-jwt', '@types/multer', '@aws-sdk/client-s3@3', '@aws-sdk/lib-storage@3'],
];
/** Files that `nest new` writes, which the quick start deletes. */
const DELETED = /^app\.(?:controller|service|module|e2e)/;

function run(command, cwd) {
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', command], {
    cwd,
    encoding: 'utf8',
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0) throw new Error(`${command} has failed:\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`);
}

/** The commands of the tabs of the quick start, by their titles. */
function tabsOf(page) {
  return [...page.matchAll(/^```sh\n# ([^\n]+)\n([^`]*npm install nestjs-restify[^`]*)```/gm)].map(
    ([, title, commands]) => ({ title, commands }),
  );
}

/** As the page says for this Node: better-sqlite3 13 and its override need Node 22. */
function forThisNode(commands) {
  if (Number(process.versions.node.split('.')[0]) >= 22) return commands;
  return commands.replace(/^npm pkg set .*\n/m, '').replace('better-sqlite3@13', 'better-sqlite3@12');
}

function examplesOf(path) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return [...text.matchAll(/^```ts\n\/\/ example: (\S+)\n([^]*?)^```/gm)].map(([, file, code]) => ({
    file: join('src', path.replaceAll(/\W/g, '-'), file),
    source: wholeExample(code),
  }));
}

/** CommonJS imports files without `.js`, and Jest has its own functions. */
function forJest(source) {
  return source
    .replace(/from '(\.\/[\w.-]+)\.js'/g, "from '$1'")
    .replace("from 'vitest'", "from '@jest/globals'");
}

function tryTab({ title, commands }, tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'restify-documents-'));
  try {
    const withJest = title.includes('Jest');
    const application = join(folder, 'polls');
    const answered = commands.replace(/^(npx @nestjs\S+ new polls)$/m, '$1 --package-manager npm --skip-git');
    run(
      forThisNode(answered).replace(' nestjs-restify ', ` ${tarball} `).replace('npx ', 'npx --yes '),
      folder,
    );
    run(`npm install ${PACKAGES(withJest ? 11 : 12).join(' ')}`, application);
    for (const name of readdirSync(join(application, 'src')))
      if (DELETED.test(name)) rmSync(join(application, 'src', name));
    rmSync(join(application, 'test'), { recursive: true });
    rmSync(join(application, 'src', 'main.ts'));
    const { groups } = navigationOf(readFileSync(join(ROOT, 'README.md'), 'utf8'));
    const paths = groups
      .filter(({ text }) => text in EVERYDAY)
      .flatMap(({ items }) => items.map(({ path }) => path));
    const examples = paths.flatMap(examplesOf);
    for (const { file, source } of examples) {
      mkdirSync(dirname(join(application, file)), { recursive: true });
      writeFileSync(join(application, file), withJest ? forJest(source) : source);
    }
    run('npx tsc --noEmit -p tsconfig.json', application);
    // Waits longer than by default, for machines that do other work.
    run(`npx ${withJest ? 'jest' : 'vitest run --hookTimeout=60000'} --testTimeout=60000`, application);
    return examples.length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const temporary = mkdtempSync(join(tmpdir(), 'restify-tarball-'));
const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', temporary];
const tarball = join(temporary, execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim());
const names = process.argv.slice(2);
const tabs = tabsOf(readFileSync(join(ROOT, 'docs/quick-start.md'), 'utf8')).filter(
  ({ title }) => names.length === 0 || names.some((name) => title.includes(name)),
);
let failed = 0;
for (const tab of tabs) {
  try {
    console.log(`${tab.title}: ${tryTab(tab, tarball)} examples`);
  } catch (error) {
    failed += 1;
    console.log(`${tab.title}: FAILED. ${error.message}`);
  }
}
rmSync(temporary, { recursive: true, force: true });
process.exitCode = failed > 0 || tabs.length === 0 ? 1 : 0;
