// Measures how long importing the built package takes, where its peers are loaded already: node scripts/measure-import.mjs
// [--rounds 20] [--folder <another dist>]. Medians of fresh processes, ES modules and CommonJS in turns: time and CPU, the part
// that compiling the file takes, and the modules that were loaded besides. `scripts/with-node.mjs --here 24` runs it on Node 24.
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    folder: { type: 'string', default: join(root, 'dist') },
  },
});
const folder = resolve(values.folder);

const PEERS = ['reflect-metadata', 'rxjs', '@nestjs/common', '@nestjs/core', '@nestjs/typeorm', 'typeorm'];

const MEASURED = (load, file) => `
  const { readFileSync } = await import('node:fs');
  const { createRequire } = await import('node:module');
  const { Script } = await import('node:vm');
  const require = createRequire(${JSON.stringify(pathToFileURL(join(root, 'package.json')).href)});
  ${PEERS.map((peer) => `await import(${JSON.stringify(peer)});`).join('')}
  const before = new Set(Object.keys(require.cache));
  const cpu = process.cpuUsage();
  const started = performance.now();
  ${load}
  const time = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  const loaded = Object.keys(require.cache).filter((name) => !before.has(name)).length;
  const text = readFileSync(${JSON.stringify(file)}, 'utf8');
  const compiling = process.cpuUsage();
  new Script('(function () {' + text + '})');
  const { user: compileUser, system: compileSystem } = process.cpuUsage(compiling);
  console.log(JSON.stringify({ time, cpu: (user + system) / 1000, compile: (compileUser + compileSystem) / 1000, loaded }));
`;

const cjs = join(folder, 'index.cjs');
const KINDS = {
  'import (ES modules)': MEASURED(
    `await import(${JSON.stringify(pathToFileURL(join(folder, 'index.js')).href)});`,
    cjs,
  ),
  'require (CommonJS)': MEASURED(`require(${JSON.stringify(cjs)});`, cjs),
};

function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

const found = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [kind, program] of Object.entries(KINDS)) {
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: root,
      encoding: 'utf8',
    });
    found[kind].push(JSON.parse(output));
  }
}
console.log(
  `Node ${process.versions.node}, medians of ${values.rounds} processes, in milliseconds (the lowest).\n`,
);
console.log('| | time | CPU | of these compiling, lazily | other modules |\n|---|---|---|---|---|');
for (const [kind, measured] of Object.entries(found)) {
  const cell = (name) => {
    const all = measured.map((each) => each[name]);
    return `${median(all).toFixed(0)} (${Math.min(...all).toFixed(0)})`;
  };
  console.log(
    `| ${kind} | ${cell('time')} | ${cell('cpu')} | ${cell('compile')} | ${median(measured.map(({ loaded }) => loaded))} |`,
  );
}
