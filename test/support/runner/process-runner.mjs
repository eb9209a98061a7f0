import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { CallbackTestRunner } from 'jest-runner';
import { SQLITE_OPTION } from '../../../scripts/sqlite-package.cjs';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));
/** The options with which Node loads TypeScript, by the module format of the world. */
const HOOKS = {
  esm: ['--import', new URL('register-hooks.mjs', import.meta.url).href],
  cjs: ['--require', fileURLToPath(new URL('register-commonjs-hooks.cjs', import.meta.url))],
};
/** The tracers of a test process (RESTIFY_TRACER of its Jest project), loaded first, so that they see every later module. */
const TRACERS = {
  otel: {
    esm: ['--import', new URL('../../tracing/otel-loader.mjs', import.meta.url).href],
    all: ['--require', fileURLToPath(new URL('../../tracing/otel.cjs', import.meta.url))],
  },
  sentry: {
    esm: [],
    all: ['--require', fileURLToPath(new URL('../../tracing/sentry.cjs', import.meta.url))],
  },
};
/** The maximum resident set size of a worker in bytes; beyond it, the worker is replaced before the next file. */
const MAX_RSS = 600 * 2 ** 20;
/** The limit of a worker's heap, in MiB. */
const MAX_HEAP = 900;
const FASTIFY = /[\\/]test[\\/]fastify[\\/]|-on-fastify\./;

/**
 * A Jest runner with one module graph per process: Nest, TypeORM and the package are loaded once for many files, by
 * Node's own loader, whereas Jest's runner loads them again for each file (decision 25). Results, reporters and the command
 * line are those of Jest. Files that mock modules or end the process use Jest's own runner (jest.config.js).
 */
export default class ProcessRunner extends CallbackTestRunner {
  // eslint-disable-next-line @typescript-eslint/max-params -- Jest's interface
  async runTests(tests, watcher, onStart, onResult, onFailure, { serial }) {
    // Files that may share a process run consecutively.
    const queue = [...tests].sort((one, other) => (processKey(one) < processKey(other) ? -1 : 1));
    const lanes = Math.min(serial ? 1 : (this._globalConfig.maxWorkers ?? cpus().length), queue.length);
    const runLane = async () => {
      const lane = new Lane(this._globalConfig);
      for (let test = queue.shift(); test && !watcher.isInterrupted(); test = queue.shift()) {
        await onStart(test);
        await lane.run(test).then(
          (result) => onResult(test, result),
          (error) => onFailure(test, { message: error.message, stack: error.stack, type: 'Error' }),
        );
      }
      await lane.end();
    };
    await Promise.all(Array.from({ length: lanes }, runLane));
  }
}

/** A worker process that runs one file at a time, and is replaced if necessary. */
class Lane {
  #process;
  #key;

  constructor(globalConfig) {
    this.globalConfig = globalConfig;
  }

  async run(test) {
    const { path, context } = test;
    if (this.#key !== processKey(test)) await this.end();
    this.#key = processKey(test);
    this.#process ??= startWorker(platformOf(path), context.config.globals);
    const { result, error, rss } = await this.#ask({
      path,
      globalConfig: this.globalConfig,
      config: context.config,
    });
    if (error || rss > MAX_RSS) await this.end();
    if (error) throw Object.assign(new Error(error.message), { stack: error.stack });
    return result;
  }

  #ask(message) {
    const worker = this.#process;
    return new Promise((resolve) => {
      const onMessage = (answer) => {
        worker.off('exit', onExit);
        resolve(answer);
      };
      const onExit = (code, signal) => {
        worker.off('message', onMessage);
        resolve({ error: { message: `The test process ended by itself (${signal ?? code})`, stack: '' } });
      };
      worker.once('message', onMessage).once('exit', onExit);
      worker.send(message);
    });
  }

  async end() {
    const worker = this.#process;
    this.#process = undefined;
    if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.kill('SIGKILL');
    await ended;
  }
}

function platformOf(path) {
  return FASTIFY.test(path) ? 'fastify' : (process.env.RESTIFY_TEST_PLATFORM ?? '');
}

/** Of files that may share a process: it has one platform, one world and one tracer. */
function processKey({ path, context }) {
  const { RESTIFY_WORLD: world, RESTIFY_TRACER: tracer } = context.config.globals;
  return [world.name, tracer, platformOf(path)].join(' ');
}

function startWorker(platform, { RESTIFY_WORLD: { format, directory }, RESTIFY_TRACER: tracer }) {
  return fork(WORKER, {
    execArgv: [
      '--no-warnings',
      '--enable-source-maps',
      ...tracerOptions(tracer, format),
      ...HOOKS[format],
      `--max-old-space-size=${MAX_HEAP}`,
    ],
    env: {
      ...process.env,
      NODE_OPTIONS: SQLITE_OPTION,
      RESTIFY_TEST_FORMAT: format,
      RESTIFY_TEST_PLATFORM: platform,
      RESTIFY_TEST_WORLD: directory,
      JEST_WORKER_ID: '1',
    },
  });
}

function tracerOptions(tracer, format) {
  if (tracer === undefined) return [];
  const { esm, all } = TRACERS[tracer];
  return [...all, ...(format === 'esm' ? esm : [])];
}
