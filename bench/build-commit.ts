import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './root.js';

/** The build of a commit in a folder of its own. */
export interface CommitBuild {
  readonly folder: string;
  remove(): void;
}

/**
 * Builds the package and the benchmark of a commit of this repository in a temporary folder, which uses the packages that
 * are installed here. Throws if the commit does not exist or does not build.
 */
export function buildCommit(commit: string): CommitBuild {
  const folder = mkdtempSync(join(tmpdir(), 'restify-bench-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const archive = join(folder, 'commit.tar');
    // `--end-of-options`: a commit may come from a script and must not become an option.
    run('git', ['archive', '--output', archive, '--end-of-options', commit], ROOT);
    run('tar', ['--extract', '--file', archive], folder);
    for (const packages of ['node_modules', 'bench/node_modules'])
      symlinkSync(join(ROOT, packages), join(folder, packages));
    run('npm', ['run', '--silent', 'build'], folder);
    run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'bench'], folder);
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status ?? 'a signal'}`);
}
