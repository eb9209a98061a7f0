'use strict';
/**
 * A process beside each server that the tests start (`start-server.cjs`): it fills the server's folder, runs the server,
 * and when its standard input ends, it ends the server and removes the folder. The system closes that input when the
 * process of the tests ends, also by Ctrl-C, a crash or SIGKILL; so the server never outlives it.
 */
const { spawn } = require('node:child_process');
const { rmSync } = require('node:fs');

const { folder, owner, fill, server, ready, signal } = JSON.parse(process.argv[2]);
/** How long a server may take to end before it is killed. */
const GRACE = 10_000;

/** What runs at present: `fill`, then the server. */
let running;
let ending = false;

process.stdin.resume();
process.stdin.once('end', end);
process.stdin.once('error', end);
for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(each, end);

run(fill, (code, output) => {
  if (code !== 0) return fail(`${fill.program} ended with ${code}: ${output()}`);
  let isReady = false;
  run(server, (status, said) => fail(`${server.program} ended with ${status}: ${said()}`), {
    onOutput(text) {
      if (isReady || !new RegExp(ready).test(text)) return;
      isReady = true;
      process.stdout.write('ready\n');
    },
  });
});

/** Runs a program in the folder; keeps the end of what it writes. */
function run({ program, args }, onEnd, { onOutput } = {}) {
  let output = '';
  const child = spawn(program, args, { ...owner, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  running = child;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-10_000);
      onOutput?.(output);
    });
  }
  let isOver = false;
  const over = (status) => {
    if (isOver) return;
    isOver = true;
    if (ending) leave(0);
    else onEnd(status, () => output);
  };
  child.once('error', (error) => over(error.message));
  child.once('close', (code, killedBy) => over(code ?? killedBy));
}

function end() {
  if (ending) return;
  ending = true;
  running.kill(signal);
  setTimeout(() => running.kill('SIGKILL'), GRACE);
}

function fail(reason) {
  // The reader may have exited.
  process.stderr.on('error', () => undefined);
  process.stderr.write(`${reason}\n`, () => leave(1));
}

function leave(code) {
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
}
