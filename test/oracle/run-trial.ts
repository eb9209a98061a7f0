import { StepGenerator } from './generate-step.js';
import { Oracle } from './oracle.js';
import type { Outcome, Subject } from './oracle.js';
import { Random } from './random.js';
import { Connection } from './send-step.js';
import { minimalSequence } from './shrink.js';
import type { Step } from './step.js';

export interface TrialOptions {
  readonly seed: number;
  readonly requests: number;
  /** Starts a new application with a new database. */
  start(): Promise<Subject>;
  /** The maximum number of reported kinds of problems. Default: 20. */
  readonly most?: number;
  /** Whether sequences are minimized, which starts more applications. Default: true. */
  readonly shrink?: boolean;
}

/** A kind of problem: its first occurrence, and how often it occurred. */
export interface Finding {
  readonly signature: string;
  readonly detail: string;
  readonly outcome: Outcome;
  times: number;
  /** A minimal sequence of requests that reproduces it in a new application. */
  sequence: readonly string[];
}

export interface Trial {
  readonly requests: number;
  readonly seed: number;
  readonly findings: readonly Finding[];
  /** Requests by intent and status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Operations of the document that were called, and those that have succeeded. */
  readonly operations: { readonly all: number; readonly called: number; readonly succeeded: number };
  /** The accepted undocumented forms, by name. */
  readonly exceptions: ReadonlyMap<string, number>;
}

/** The fraction of writes after which the object is read. */
const READ_BACK = 0.5;

/** Runs a sequence of requests that is generated from the document and a seed. */
export async function runTrial(options: TrialOptions): Promise<Trial> {
  const subject = await options.start();
  const connection = new Connection(
    subject.port,
    new Map(subject.actors.map((actor) => [actor.name, actor])),
  );
  const oracle = new Oracle(subject, connection);
  const record = new Recorder(options.most ?? 20);
  const random = new Random(options.seed);
  const generator = new StepGenerator(oracle.document, oracle.state, { random, actors: subject.actors });
  try {
    for (let number = 0; number < options.requests && !record.isFull; number++) {
      const step = nextStep(generator, record, { oracle, random, number });
      record.add(await oracle.run(step));
    }
  } finally {
    connection.close();
    await subject.close();
  }
  if (options.shrink !== false) {
    for (const finding of record.findings)
      finding.sequence = await minimalSequence(
        record.steps.slice(0, finding.outcome.step.number + 1),
        finding.signature,
        options,
      );
  }
  return {
    requests: record.steps.length,
    seed: options.seed,
    findings: record.findings,
    statuses: record.statuses,
    operations: {
      all: oracle.document.operations.length,
      called: record.called.size,
      succeeded: record.succeeded.size,
    },
    exceptions: oracle.outcomes.exceptions,
  };
}

function nextStep(
  generator: StepGenerator,
  record: Recorder,
  { oracle, random, number }: { readonly oracle: Oracle; readonly random: Random; readonly number: number },
): Step {
  const last = record.steps.at(-1);
  const id = last && (last.target ?? String(last.number));
  const object = id === undefined ? undefined : oracle.state.objects.get(id);
  const readable = object && oracle.document.operations.some((each) => each.id === `GET ${object.detail}`);
  if (last && last.method !== 'GET' && readable && random.chance(READ_BACK))
    return generator.readBack(number, object);
  return generator.next(number);
}

export function signatureOf({ step }: Outcome, rule: string): string {
  return `${step.operation}: ${rule}`;
}

class Recorder {
  readonly steps: Step[] = [];
  readonly findings: Finding[] = [];
  readonly statuses = new Map<string, number>();
  readonly called = new Set<string>();
  readonly succeeded = new Set<string>();

  constructor(private readonly most: number) {}

  get isFull(): boolean {
    return this.findings.length >= this.most;
  }

  add(outcome: Outcome): void {
    const { step, status, problems } = outcome;
    this.steps.push(step);
    const kind = `${step.intent.kind} ${status}`;
    this.statuses.set(kind, (this.statuses.get(kind) ?? 0) + 1);
    if (step.intent.kind !== 'other-method') this.called.add(step.operation);
    if (status < 400) this.succeeded.add(step.operation);
    for (const { rule, detail } of problems) {
      const signature = signatureOf(outcome, rule);
      const known = this.findings.find((each) => each.signature === signature);
      if (known) known.times++;
      else this.findings.push({ signature, detail, outcome, times: 1, sequence: [outcome.curl] });
    }
  }
}
