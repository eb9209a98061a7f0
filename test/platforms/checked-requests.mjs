// Sends requests to an application that runs as a process of its own, and compares the responses with what they must be.
import { spawn } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';

/** Requests to one origin, such as `http://127.0.0.1:3000`. Rejects with the request and its response if they differ from what is expected. */
export class CheckedRequests {
  count = 0;

  constructor(origin, headers = {}) {
    this.origin = origin;
    this.headers = headers;
  }

  /** Resolves to the parsed body; undefined without one. `expected` is a body, or a function of the body that is true if it is right. */
  async send(method, path, { body, headers, status, expected } = {}) {
    this.count += 1;
    const response = await fetch(new URL(path, this.origin), {
      method,
      headers: {
        ...this.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      redirect: 'manual',
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const received = isJson && text !== '' ? JSON.parse(text) : text || undefined;
    const isRight =
      typeof expected === 'function' ? expected(received) : isDeepStrictEqual(received, expected);
    if (response.status !== status || (expected !== undefined && !isRight))
      throw new Error(
        `${method} ${path} ${JSON.stringify(body) ?? ''}: ${response.status} ${text.slice(0, 500)}. Expected: ${status} ${typeof expected === 'function' ? String(expected) : (JSON.stringify(expected) ?? '')}`,
      );
    return received;
  }
}

/** Milliseconds that an application may take to start, and to end after SIGTERM. */
const LIMIT = 60_000;

/**
 * Starts a program, and calls `use` with its port once its output matches `ready`. Then sends SIGTERM, and rejects unless it ends
 * with one of `codes`, or if `use` has rejected.
 */
export async function withProgram({ command, args, options, ready, codes = [0] }, use) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(signal ?? code));
  });
  const started = new Promise((resolve) => {
    const read = (chunk) => {
      output += chunk.toString();
      if (ready.test(output)) resolve(Number(ready.exec(output)[1]));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const late = (what) =>
    new Promise((_, reject) => {
      setTimeout(() => reject(new Error(`It does not ${what}: ${output}`)), LIMIT).unref();
    });
  try {
    const early = ended.then((code) => {
      throw new Error(`It has ended with ${code}: ${output}`);
    });
    await use(await Promise.race([started, early, late('start')]));
    child.kill('SIGTERM');
    const code = await Promise.race([ended, late('end after SIGTERM')]);
    if (!codes.includes(code)) throw new Error(`It ends with ${code} after SIGTERM: ${output}`);
    return output;
  } finally {
    child.kill('SIGKILL');
  }
}
