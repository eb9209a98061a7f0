import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { basename, resolve } from 'node:path';
import type { Contestant } from './contestants.js';
import { serverCommand } from './cores.js';
import type { BenchDatabase } from './databases.js';
import { ROOT } from './root.js';
import type { Report } from './servers/serve.js';

export interface Usage {
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
}

/** A running contestant. */
export interface RunningServer {
  readonly port: number;
  readonly pid: number;
  /** The application name of its database connections. */
  readonly application: string;
  readonly facts: Readonly<Record<string, number>>;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

const START_LIMIT = 120_000;

let started = 0;

/**
 * Starts a server file, whose path is absolute or relative to the project, as a child process on the server's core. Throws
 * with its standard error if it fails.
 */
export async function startServer(
  file: string,
  environment: Readonly<Record<string, string>>,
): Promise<RunningServer> {
  started += 1;
  const application = `bench-${basename(file, '.js')}-${process.pid}-${started}`;
  const { command, args } = serverCommand([process.execPath, resolve(ROOT, file)]);
  const child = spawn(command, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      ...environment,
      NODE_ENV: 'production',
      TZ: 'UTC',
      PGAPPNAME: application,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { port, facts = {} } = await firstReport(child);
  return {
    port,
    pid: child.pid ?? 0,
    application,
    facts,
    usage: () => askUsage(child),
    stop: () => stopped(child),
  };
}

export function startContestant(
  { file, environment }: Contestant,
  database: Pick<BenchDatabase, 'environment'>,
): Promise<RunningServer> {
  return startServer(file, { ...database.environment, ...environment });
}

function firstReport(child: ChildProcess): Promise<Extract<Report, { readonly kind: 'listening' }>> {
  return new Promise((resolve, reject) => {
    let errors = '';
    const fail = (reason: string): void => {
      clearTimeout(limit);
      reject(new Error(`${reason}${errors === '' ? '' : `: ${firstError(errors)}`}`));
    };
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      fail('did not start in time');
    }, START_LIMIT);
    child.stderr?.setEncoding('utf8');
    child.stderr?.on('data', (text: string) => {
      if (errors.length < 20_000) errors += text;
    });
    child.once('error', (error) => {
      fail(error.message);
    });
    child.once('close', (code) => {
      fail(`ended with ${code ?? 'a signal'}`);
    });
    child.on('message', (told: Report) => {
      if (told.kind !== 'listening') return;
      clearTimeout(limit);
      resolve(told);
    });
  });
}

/** The line of an uncaught error with its message. */
function firstError(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.find((line) => /Error\b.*:/.test(line)) ?? lines.find((line) => line !== '') ?? '';
}

function askUsage(child: ChildProcess): Promise<Usage> {
  return new Promise((resolve, reject) => {
    const answered = (told: Report): void => {
      if (told.kind !== 'usage') return;
      child.off('message', answered);
      resolve(told);
    };
    child.on('message', answered);
    child.send('usage', (error) => {
      if (error) reject(error);
    });
  });
}

function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.kill();
  });
}
