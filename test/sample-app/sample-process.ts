import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SQLITE_OPTION } from '../../scripts/sqlite-package.cjs';
import { Client } from '../support/client.js';
import { WORLD } from '../support/world.js';

const run = promisify(execFile);

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

const FORMAT = {
  esm: [],
  // `npm run typecheck` has its types against NestJS 11.
  cjs: ['--module', 'commonjs', '--moduleResolution', 'bundler', '--noCheck'],
};

export type Environment = Readonly<Record<string, string>>;

/** The sample application as this world compiles it, and the processes of it that run. */
export class CompiledSample {
  readonly running = new Set<SampleProcess>();

  private constructor(
    /** Where the processes work. */
    readonly folder: string,
    /** Where the application finds the packages of this world, and the built package by its name. */
    private readonly built: string,
  ) {}

  static async compile(): Promise<CompiledSample> {
    const folder = await mkdtemp(join(tmpdir(), 'restify-sample-app-'));
    const built = join(WORLD.directory, 'dist', `sample-app-${process.pid}`);
    // `npm test` has built the package; a run of one file alone may be the first one.
    if (!existsSync(join(PROJECT, 'dist/index.js'))) await run('npm', ['run', 'build'], { cwd: PROJECT });
    const compiler = join(PROJECT, 'node_modules/typescript/bin/tsc');
    await run(
      process.execPath,
      [compiler, '-p', 'sample-app/tsconfig.json', '--outDir', built, ...FORMAT[WORLD.format]],
      { cwd: PROJECT },
    ).catch((error: unknown) => {
      throw new Error(
        `The sample application does not compile against the package in dist/. Is that older than src/? npm run build.\n${(error as { stdout?: string }).stdout ?? ''}`,
      );
    });
    // In the world of ES modules it stands in the project's own package, which says that and knows itself by name.
    if (WORLD.format === 'cjs')
      await writeFile(join(built, 'package.json'), JSON.stringify({ type: 'commonjs' }));
    return new CompiledSample(folder, built);
  }

  /** `npm start` runs `main.js`, `npm run start:cluster` runs `cluster.js`. */
  async start(environment: Environment, file: 'main.js' | 'cluster.js' = 'main.js'): Promise<SampleProcess> {
    return this.startAt(await freePort(), environment, file);
  }

  startAt(port: number, environment: Environment, file: 'main.js' | 'cluster.js' = 'main.js'): SampleProcess {
    const started = new SampleProcess(port, {
      program: join(this.built, file),
      folder: this.folder,
      environment,
    });
    this.running.add(started);
    void started.ended.then(() => this.running.delete(started));
    return started;
  }

  async killAll(): Promise<void> {
    for (const each of this.running) await each.kill();
  }

  async remove(): Promise<void> {
    await this.killAll();
    rmSync(this.built, { recursive: true, force: true });
    await rm(this.folder, { recursive: true, force: true });
  }
}

interface Program {
  readonly program: string;
  readonly folder: string;
  readonly environment: Environment;
}

/** The sample application, started as a user starts it. */
export class SampleProcess {
  output = '';
  /** The exit code; null where a signal has ended it. */
  readonly ended: Promise<number | null>;
  private readonly child: ChildProcess;
  private hasEnded = false;

  constructor(
    readonly port: number,
    { program, folder, environment }: Program,
  ) {
    const { DATABASE_URL: _, PORT: __, ...inherited } = process.env;
    this.child = spawn(process.execPath, [program], {
      cwd: folder,
      env: { ...inherited, NO_COLOR: '1', NODE_OPTIONS: SQLITE_OPTION, PORT: String(port), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code) => {
        this.hasEnded = true;
        resolve(code);
      });
    });
  }

  get client(): Client {
    return new Client(this.port);
  }

  /** Resolves when it says that it listens; rejects with what it said where it ends before. */
  listening(): Promise<this> {
    return this.saying('Listening on');
  }

  /** Resolves when its log has the text, or all of them. */
  async saying(...texts: readonly string[]): Promise<this> {
    const deadline = Date.now() + 120_000;
    while (!texts.every((text) => this.output.includes(text))) {
      if (this.hasEnded) throw new Error(`It has ended: ${this.output}`);
      if (Date.now() > deadline) throw new Error(`It does not say "${texts.join('", "')}": ${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The exit code after a signal; undefined where it takes longer than ten seconds. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null | undefined> {
    this.child.kill(signal);
    return this.exit();
  }

  async exit(): Promise<number | null | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, 60_000, undefined)));
    const code = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    return code;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** What it said itself, line by line, without time and process. */
  get said(): readonly string[] {
    return this.output.split('\n').flatMap((line) => /\[SampleApp\] (.*)$/.exec(line)?.[1]?.trim() ?? []);
  }
}

/**
 * A port that is free, outside the range from which the operating system takes ports for `listen(0)` and for connections: a test
 * in another process would take one from there before the sample application listens.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = await listenAt(port).catch(() => undefined);
    if (!server) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error('No free port between 20000 and 31999.');
}

export function listenSomewhere(): Promise<Server> {
  return listenAt(0);
}

function listenAt(port: number): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}

/** `DATABASE_URL` of a fresh place, for a process that knows nothing of the tests. */
export function urlOf(options: object): string {
  const { type, url, schema, database } = options as {
    type: string;
    url?: string;
    schema?: string;
    database?: string;
  };
  if (type === 'better-sqlite3') return `sqlite:${database ?? ''}`;
  const place = new URL(url ?? '');
  if (schema !== undefined) place.searchParams.set('options', `-c search_path=${schema}`);
  return place.href.replace(/^mysql:/, `${type}:`);
}

export async function answer(sent: ReturnType<Client['get']>): Promise<readonly [number, unknown]> {
  const { status, json } = await sent;
  return [status, json];
}
