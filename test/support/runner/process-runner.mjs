import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { CallbackTestRunner } from 'jest-runner';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));
/** The options with which Node loads TypeScript, by the module format of the world. */
const HOOKS = {
  esm: ['--import', new URL('register-hooks.mjs', import.meta.url).href],
  cjs: ['--require', fileURLToPath(new URL('register-commonjs-hooks.cjs', import.meta.url))],
};
/** The maximum resident set size of a worker in bytes; beyond it, the worker is replaced before the next file. */
const MAX_RSS = 600 * 2 ** 20;
/** The limit of a worker's heap, in MiB. */
const MAX_HEAP = 900;
const FASTIFY = /[\\/]test[\\/]fastify[\\/]/;

/**
 * A Jest runner with one module graph per process: Nest, TypeORM and the package are loaded once for many files, by
 * Node's own loader, whereas Jest's runner loads them again for each file (decision 25). Results, reporters and the command
 * line are those of Jest. Files that mock modules or end the process use Jest's own runner (jest.config.js).
 */
export default class ProcessRunner extends CallbackTestRunner {
  // eslint-disable-next-line @typescript-eslint/max-params -- Jest's interface
  async runTests(tests, watcher, onStart, onResult, onFailure, { serial }) {
    // Files of the same platform run consecutively, because a process has one platform.
    const queue = [...tests].sort(
      (one, other) => Number(FASTIFY.test(one.path)) - Number(FASTIFY.test(other.path)),
    );
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
  #platform;

  constructor(globalConfig) {
    this.globalConfig = globalConfig;
  }

  async run({ path, context }) {
    const platform = FASTIFY.test(path) ? 'fastify' : (process.env.RESTIFY_TEST_PLATFORM ?? '');
    if (this.#platform !== platform) await this.end();
    this.#platform = platform;
    this.#process ??= startWorker(platform, context.config.globals.RESTIFY_WORLD);
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

function startWorker(platform, { format, directory }) {
  return fork(WORKER, {
    execArgv: ['--no-warnings', '--enable-source-maps', ...HOOKS[format], `--max-old-space-size=${MAX_HEAP}`],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      RESTIFY_TEST_FORMAT: format,
      RESTIFY_TEST_PLATFORM: platform,
      RESTIFY_TEST_WORLD: directory,
      JEST_WORKER_ID: '1',
    },
  });
}
