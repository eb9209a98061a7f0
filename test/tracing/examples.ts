import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WORLD } from '../support/world.js';

export const PROJECT = WORLD.name === 'nest-12' ? WORLD.directory : join(WORLD.directory, '../../..');
const DOCUMENT = join(PROJECT, 'docs/reference/observability.md');
/** Beside the packages of the examples, which are found from there. */
const FOLDER = join(PROJECT, 'test/tracing/packages', `examples-${process.pid}`);

/** The examples of docs/reference/observability.md by their names: `sentry-errors.ts`. */
export function listExamples(): ReadonlyMap<string, string> {
  const blocks = readFileSync(DOCUMENT, 'utf8').matchAll(/```ts\n\/\/ ([\w-]+\.ts)\n(.*?)```/gs);
  return new Map([...blocks].map(([, name = '', text = '']) => [name, text]));
}

/** Writes all examples to files, and returns their folder. */
export function writeExamples(): string {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of listExamples()) writeFileSync(join(FOLDER, name), text);
  return FOLDER;
}

export async function importExample(name: string): Promise<Readonly<Record<string, unknown>>> {
  const path = join(writeExamples(), name);
  return (await import(WORLD.format === 'esm' ? pathToFileURL(path).href : path)) as Readonly<
    Record<string, unknown>
  >;
}

export function removeExamples(): void {
  rmSync(FOLDER, { recursive: true, force: true });
}
