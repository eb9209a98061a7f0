import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './root.js';

/**
 * Builds the package of a commit of this repository, and the servers of this benchmark for it, in a temporary folder, which uses
 * the packages that are installed here and is removed when the process exits. Returns the folder. Throws if the commit does not exist or does
 * not build.
 */
export function buildCommit(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'restify-bench-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const archive = join(folder, 'commit.tar');
  // `--end-of-options`: a commit may come from a script and must not become an option.
  run('git', ['archive', '--output', archive, '--end-of-options', commit], ROOT);
  run('tar', ['--extract', '--file', archive], folder);
  // Both commits are measured by the same servers, on the same tables.
  rmSync(join(folder, 'bench'), { recursive: true });
  cpSync(join(ROOT, 'bench'), join(folder, 'bench'), {
    recursive: true,
    filter: (source) => !/[\\/](?:node_modules|dist|results)$/.test(source),
  });
  for (const packages of ['node_modules', 'bench/node_modules'])
    symlinkSync(join(ROOT, packages), join(folder, packages));
  run('npm', ['run', '--silent', 'build'], folder);
  // The types were checked with this commit's package: another one may have its declarations elsewhere.
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'bench', '--noCheck'], folder);
  return folder;
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? 'a signal'}`);
}
