// Checks that the package can be published: `node scripts/release-check.mjs`. What the owner fills in is in publication.json;
// `node scripts/release-check.mjs --write` puts it into package.json, and makes the links of README.md absolute, as npm's page needs them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const { repository, branch, author } = JSON.parse(read('scripts/publication.json'));
const files = `${repository}/blob/${branch}/`;
const isFilledIn = !/OWNER/.test(repository) && author !== 'AUTHOR';

/** The targets of Markdown links. */
const LINK = /\]\(([^)\s]+)\)/g;
const ABSOLUTE = /^([a-z]+:|#)/;

function manifestFields() {
  return {
    author,
    homepage: `${repository}#readme`,
    repository: { type: 'git', url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
  };
}

function write() {
  const manifest = { ...JSON.parse(read('package.json')), ...manifestFields() };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest, undefined, 2) + '\n');
  if (!isFilledIn) return;
  const readme = read('README.md').replace(LINK, (link, target) =>
    ABSOLUTE.test(target) ? link : `](${files}${target})`,
  );
  writeFileSync(join(root, 'README.md'), readme);
}

function findProblems() {
  const manifest = JSON.parse(read('package.json'));
  const problems = [];
  if (!isFilledIn)
    problems.push('scripts/publication.json has placeholders: set repository and author, and run --write.');
  for (const [field, value] of Object.entries(manifestFields()))
    if (JSON.stringify(manifest[field]) !== JSON.stringify(value))
      problems.push(`package.json: ${field} differs from scripts/publication.json: run --write.`);
  const links = [...read('README.md').matchAll(LINK)].map(([, target]) => target);
  const relative = links.filter((target) => !ABSOLUTE.test(target));
  if (relative.length > 0)
    problems.push(
      `README.md: ${relative.length} links lead nowhere on npm, such as ${relative[0]}: run --write.`,
    );
  for (const target of links)
    if (target.startsWith(files) && !existsSync(join(root, target.slice(files.length).split('#')[0])))
      problems.push(`README.md: ${target} is no file of the repository.`);
  if (!read('CHANGELOG.md').includes(`\n## ${manifest.version}`))
    problems.push(`CHANGELOG.md has no section for ${manifest.version}.`);
  return problems;
}

if (process.argv.includes('--write')) write();
else {
  const problems = findProblems();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
}
