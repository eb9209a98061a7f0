import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { PINNED } from './cores.js';
import { CONNECTIONS } from './load.js';
import { ROOT } from './root.js';

const { SQLITE_PACKAGE } = createRequire(join(ROOT, 'package.json'))('./scripts/sqlite-package.cjs') as {
  readonly SQLITE_PACKAGE: string;
};

/** The machine and the versions with which the figures were measured. */
export function machineLine(pinned = PINNED): string {
  const [cpu] = cpus();
  const packages = ['@nestjs/core', 'typeorm', 'express', 'fastify', SQLITE_PACKAGE, 'pg'].map(
    (name) => `${name} ${versionOf(name)}`,
  );
  return [
    `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC. Node ${process.version}, ${cpus().length} cores (${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB.`,
    `${packages.join(', ')}.`,
    `${CONNECTIONS} connections; ${pinned ? 'the server on one core, the load on another' : 'nothing is pinned to a core'}; load average at the end ${loadavg()[0]?.toFixed(1) ?? '?'}.`,
  ].join('\n');
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
