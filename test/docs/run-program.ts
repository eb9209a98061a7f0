import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort, SampleProcess } from '../sample-app/sample-process.js';
import { PROJECT } from './document.js';

const TYPESCRIPT = pathToFileURL(join(PROJECT, 'test/support/typescript.mjs')).href;

/** Runs the `main.ts` of a document as a user would: in a process of its own, on the port of the variable PORT, by default a free one. */
export async function runProgram(path: string, port?: number): Promise<SampleProcess> {
  const program = new SampleProcess(port ?? (await freePort()), {
    program: path,
    folder: dirname(path),
    environment: { NODE_OPTIONS: `--import ${TYPESCRIPT}` },
  });
  try {
    await program.saying('Nest application successfully started');
    await listening(program);
  } catch (error) {
    await program.kill();
    throw error;
  }
  return program;
}

/** Nest says that it has started shortly before the server listens. */
async function listening({ client }: SampleProcess): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.get('/');
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
