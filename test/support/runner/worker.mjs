import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ModuleMocker } from 'jest-mock';

const require = createRequire(import.meta.url);
/** The module format to which the files of this process are compiled. */
const FORMAT = process.env.RESTIFY_TEST_FORMAT;
const circus = require.resolve('jest-circus/runner');
const runFile = createRequire(circus)(circus).default;
const mocker = new ModuleMocker(globalThis);
const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => {
    mocker.restoreAllMocks();
    return jest;
  },
  setTimeout: (milliseconds) => {
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = milliseconds;
    return jest;
  },
};

/** The part of Jest's runtime that jest-circus uses, for the modules of this process. */
const runtime = {
  requireInternalModule: require,
  requireModule: require,
  setGlobalsForRuntime: (globals) => globalThis.restifyBindTestGlobals({ ...globals, jest }),
  unstable_shouldLoadAsEsm: () => FORMAT === 'esm',
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  enterTestCode: () => undefined,
  leaveTestCode: () => undefined,
};
const environment = { global: globalThis, fakeTimers: null, fakeTimersModern: null };

Error.stackTraceLimit = 100;
// Defines restifyBindTestGlobals.
if (FORMAT === 'esm') await import('@jest/globals');
else require('./test-globals.cjs');

// The process of Jest has exited.
process.on('disconnect', () => process.exit(1));
process.on('message', ({ path, globalConfig, config }) => {
  void run(path, globalConfig, config).then(
    (result) => process.send({ result, rss: process.memoryUsage.rss() }),
    (error) =>
      process.send({
        error: { message: String(error?.message ?? error), stack: String(error?.stack ?? error) },
      }),
  );
});

async function run(path, globalConfig, config) {
  resetTestState();
  Object.assign(globalThis, config.globals);
  const before = { ...process.env };
  const start = Date.now();
  const result = await runFile(globalConfig, config, environment, runtime, path);
  mocker.restoreAllMocks();
  const end = Date.now();
  const ran = result.numPassingTests + result.numFailingTests + result.numTodoTests;
  Object.assign(result, {
    perfStats: {
      ...result.perfStats,
      start,
      end,
      runtime: end - start,
      slow: end - start > config.slowTestThreshold * 1000,
      loadTestEnvironmentStart: start,
      loadTestEnvironmentEnd: start,
      setupFilesStart: start,
      setupFilesEnd: start,
    },
    testFilePath: path,
    skipped: ran === 0,
    displayName: config.displayName,
    leaks: false,
  });
  // Removed, because they contain the compared values, which may not be serializable; the failure messages have their text.
  for (const each of result.testResults) each.failureDetails = [];
  const changed = changedVariables(before);
  if (changed.length > 0)
    throw new Error(`${path} leaves the environment changed: ${changed.join(', ')}. Restore it in afterAll.`);
  return result;
}

/** Resets the state of jest-circus, which is stored in a module and in global symbols, for each file. */
function resetTestState() {
  const initializer = createRequire(circus).resolve('./jestAdapterInit');
  Reflect.deleteProperty(require.cache, initializer);
  Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
  Reflect.deleteProperty(globalThis, Symbol.for('TEST_TIMEOUT_SYMBOL'));
}

function changedVariables(before) {
  return [...new Set([...Object.keys(before), ...Object.keys(process.env)])].filter(
    (name) => before[name] !== process.env[name],
  );
}
