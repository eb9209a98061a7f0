import { NestFactory } from '@nestjs/core';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { INestApplication, NestApplicationOptions, Type } from '@nestjs/common';
import { expect } from '@jest/globals';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import { EntitySchema, getMetadataArgsStorage } from 'typeorm';
import { Client } from '../support/client.js';
import { compareIn } from '../support/comparison.js';
import { startApp } from '../support/start-app.js';
import { comparable, runCurl } from './curl.js';
import type { Variables } from './curl.js';
import { PROJECT } from './document.js';
import type { Example, ProjectDocument, Refused, ShownCall } from './document.js';

/** An application that a document describes, and the way to end it. */
export interface RunningExample {
  readonly client: Client;
  close(): Promise<void>;
}

/** The examples of the documents as files, below the project so that its packages are found. */
export class ExampleFiles {
  readonly directory: string;

  constructor(name: string) {
    this.directory = join(PROJECT, 'dist', `${name}-${process.pid}`);
  }

  /** Examples of one document see each other by the names that they have there. */
  write(document: ProjectDocument): readonly string[] {
    return document.parts.flatMap((part) => {
      if (part.kind === 'call') return [];
      const path = this.pathOf(document, part);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, part.source);
      return part.kind === 'example' ? [path] : [];
    });
  }

  pathOf(document: ProjectDocument, { file }: Example | Refused): string {
    return join(this.directory, document.path.replaceAll(/\W/g, '-'), file);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/**
 * Starts the `AppModule` that an example exports, or an application of the entities that it exports. `createAdapter` is the
 * HTTP adapter that its `main.ts` would name, `configureApp` what it would do before it listens. Undefined where an example is a part that says nothing of an application.
 */
export async function startExample(path: string): Promise<RunningExample | undefined> {
  const exported = (await import(path)) as Readonly<Record<string, unknown>>;
  if (typeof exported.AppModule === 'function') return startModule(exported.AppModule as Type, exported);
  const values = Object.values(exported);
  const known = new Set(getMetadataArgsStorage().tables.map((table) => table.target));
  const entities = values.filter(
    (value): value is Type | EntitySchema => value instanceof EntitySchema || known.has(value as Type),
  );
  if (entities.length === 0) return undefined;
  return startApp({ entities });
}

/** What stands in the `main.ts` of an example. */
interface MainParts {
  readonly createAdapter?: () => AbstractHttpAdapter;
  readonly configureApp?: (app: INestApplication) => void;
}

async function startModule(
  module: Type,
  { createAdapter, configureApp }: MainParts,
): Promise<RunningExample> {
  const options: NestApplicationOptions = { logger: false, abortOnError: false };
  const app = createAdapter
    ? await NestFactory.create(module, createAdapter(), options)
    : await NestFactory.create(module, options);
  configureApp?.(app);
  compareIn(app);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { client: new Client(port), close: () => app.close() };
}

/** The answers are those that the document shows. */
export async function expectShownAnswers(
  calls: readonly ShownCall[],
  client: Client,
  document: ProjectDocument,
): Promise<void> {
  const variables: Variables = new Map();
  for (const call of calls) {
    const printed = await runCurl(call.command, client, variables).catch(
      (error: unknown) => `${document.path}:${call.line} ${String(error)}`,
    );
    const both = comparable(call.shown, printed);
    expect({ at: `${document.path}:${call.line}`, answer: both.printed }).toEqual({
      at: `${document.path}:${call.line}`,
      answer: both.shown,
    });
  }
}
