import { expect } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Client } from '../support/client.js';

/** Of the environment in which Jest runs these tests, what an application on its own has. */
export function environmentOutside(): NodeJS.ProcessEnv {
  const { JEST_WORKER_ID: _, NODE_ENV: __, NODE_OPTIONS: ___, ...environment } = process.env;
  return environment;
}

/** Starts a compiled application, and sends requests to it. */
export async function expectToServe(
  app: string,
  [program, ...args]: readonly [string, ...string[]] = [process.execPath, 'main.js'],
): Promise<void> {
  const server = spawn(program, args, {
    cwd: app,
    env: environmentOutside(),
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own: `npx` and Yarn pass no signal on to the process that they start.
    detached: true,
  });
  try {
    const client = new Client(await portOf(server));
    expect((await client.get('/')).json).toEqual({
      'rest/v1/blog/draft': `http://127.0.0.1:${client.port}/rest/v1/blog/draft/`,
      'rest/v1/blog/post': `http://127.0.0.1:${client.port}/rest/v1/blog/post/`,
    });
    const created = await client.post('/rest/v1/blog/post/', { title: 'Hello' });
    expect([created.status, created.json]).toEqual([201, { id: 1, title: 'Hello' }]);
    expect((await client.get('/rest/v1/blog/post/?title=Hello')).json).toEqual([{ id: 1, title: 'Hello' }]);
    expect((await client.get('/rest/v1/blog/post/2/')).status).toBe(404);
  } finally {
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGTERM');
  }
}

function portOf(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    server.stdout?.on('data', (chunk: Buffer) => {
      const port = /^PORT (\d+)$/m.exec(chunk.toString())?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    server.on('exit', (code) => {
      reject(new Error(`The application ended with ${code}`));
    });
  });
}
