import { connect } from 'node:net';
import type { ApiDocument } from '../oracle/api-document.js';
import { StepGenerator } from '../oracle/generate-step.js';
import { Oracle } from '../oracle/oracle.js';
import type { Subject } from '../oracle/oracle.js';
import { Random } from '../oracle/random.js';
import type { Pace } from './pace.js';
import { Connection } from '../oracle/send-step.js';

export interface Counts {
  requests: number;
  failures: number;
  slow: number;
  aborted: number;
  /** The first answers of 5xx, for the report. */
  readonly examples: string[];
}

/** After so many requests a client forgets what it knows. */
const STEPS_OF_ONE = 400;

/** Sends what the document describes until the time is over. Other clients change the same rows: only a 5xx is wrong. */
export async function mixedClient(
  subject: Subject,
  counts: Counts,
  {
    seed,
    end,
    document,
    pace,
  }: {
    readonly seed: number;
    readonly end: number;
    readonly document: ApiDocument;
    readonly pace: Pace;
  },
): Promise<void> {
  const actors = new Map(subject.actors.map((actor) => [actor.name, actor]));
  for (let round = 0; Date.now() < end; round++) {
    const connection = new Connection(subject.port, actors);
    const oracle = new Oracle(subject, connection, document);
    const random = new Random(seed + round * 1000);
    const generator = new StepGenerator(oracle.document, oracle.state, { random, actors: subject.actors });
    for (let number = 0; number < STEPS_OF_ONE && Date.now() < end; number++) {
      await pace.turn();
      const { status, curl } = await oracle.run(generator.next(number));
      counts.requests++;
      if (status < 500) continue;
      counts.failures++;
      if (counts.examples.length < 5) counts.examples.push(`${curl}  # ${status}`);
    }
    connection.close();
  }
}

/** Reads a list slowly, until the time is over. */
export async function slowClient(subject: Subject, counts: Counts, end: number): Promise<void> {
  while (Date.now() < end) {
    await readSlowly(subject.port, listOf(subject));
    counts.slow++;
  }
}

function readSlowly(port: number, path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), 50);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve();
    });
    socket.setTimeout(20_000, () => socket.destroy());
    socket.write(`GET ${path} HTTP/1.1\r\nHost: slow\r\nConnection: close\r\n\r\n`);
  });
}

/** Goes away in the middle of a request, of a body or of an answer. */
export async function abortingClient(subject: Subject, counts: Counts, end: number): Promise<void> {
  const path = listOf(subject);
  const beginnings = [
    `GET ${path} HTTP/1.1\r\nHost: gone\r\n\r\n`,
    `POST ${path} HTTP/1.1\r\nHost: gone\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":`,
    `GET ${path} HTTP/1.1\r\nHost: go`,
  ];
  for (let turn = 0; Date.now() < end; turn++) {
    await goAway(subject.port, beginnings[turn % beginnings.length] ?? '', turn % 7);
    counts.aborted++;
  }
}

function goAway(port: number, beginning: string, after: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.on('close', () => setTimeout(resolve, 20));
    socket.write(beginning);
    setTimeout(() => socket.destroy(), after);
  });
}

interface Served {
  readonly get?: object;
  readonly post?: object;
}

/** The first collection of the document. */
function listOf({ document }: Subject): string {
  const { paths } = document as { readonly paths: Readonly<Record<string, Served>> };
  const [path = ''] =
    Object.entries(paths).find(([name, { get, post }]) => get && post && !name.includes('{')) ?? [];
  return `${path}/`;
}
