import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { Client } from '../support/client.js';
import { WORLD } from '../support/world.js';

export const PAGES = '/rest/v1/works/page/';

/** `test/fixtures/writing-app.mjs` as a process of its own. */
export interface WritingProcess {
  readonly child: ChildProcess;
  readonly client: Client;
  /** What it has written on the standard error output: why it ended, if it did. */
  errors: () => string;
  /** Kills it, where it runs. */
  end: () => Promise<void>;
}

/** @param committed a file, to which `afterCommit` appends the texts that are committed, one a line. */
export async function startWriting(
  options: Partial<DataSourceOptions>,
  committed?: string,
): Promise<WritingProcess> {
  // Where Node finds the packages of this world.
  const program = join(
    WORLD.directory,
    'dist',
    `writing-app-${process.pid}-${randomBytes(4).toString('hex')}.mjs`,
  );
  await mkdir(dirname(program), { recursive: true });
  await copyFile('test/fixtures/writing-app.mjs', program);
  const child = fork(program, [JSON.stringify(options), ...(committed ? [committed] : [])], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(program, { force: true });
  };
  const port = await Promise.race([
    once(child, 'message').then(([message]) => message as number),
    ended.then(() => undefined),
  ]);
  if (port === undefined) {
    await end();
    throw new Error(`It does not start: ${errors}`);
  }
  return { child, client: new Client(port), errors: () => errors, end };
}
