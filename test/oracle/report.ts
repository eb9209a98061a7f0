import type { Finding, Trial } from './run-trial.js';
import type { SubjectOptions } from './start-subject.js';

/** The report of a trial: the requests, the problems, and how to reproduce them. */
export function reportOf(trial: Trial, run: SubjectOptions & { readonly seconds: number }): string {
  const { operations, statuses, exceptions, findings } = trial;
  const counted = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, times]) => `    ${String(times).padStart(6)}  ${name}`)
      .join('\n');
  return [
    `--- ${run.model}, ${run.database}, ${run.platform}: ${trial.requests} requests in ${run.seconds.toFixed(1)} s, seed ${trial.seed}`,
    `  operations: ${operations.all} in the document, ${operations.called} called, ${operations.succeeded} with success`,
    `  requests by intent and status:\n${counted(statuses)}`,
    ...(exceptions.size > 0
      ? [`  beyond the document, and taken as docs/ say:\n${counted(exceptions)}`]
      : []),
    `  problems: ${findings.length}`,
    ...findings.map((finding, index) => problemOf(finding, index + 1)),
  ].join('\n');
}

function problemOf({ signature, detail, times, sequence }: Finding, number: number): string {
  return [
    `  ${number}. ${signature} (${times} times)`,
    `     ${detail}`,
    ...sequence.map((each) => `       ${each}`),
  ].join('\n');
}
