import { loadRequests } from '../load.js';
import { lowerQuartile } from '../report.js';
import type { RunningServer } from '../server-process.js';
import { checkAnswers } from './check.js';
import { ITEM_WORKLOADS } from './requests.js';
import type { ItemRequests, ItemWorkload, RequestsOf } from './requests.js';
import type { VariantName } from './variants.js';

/** Requests after a start that are measured alone, because the code is not compiled yet. */
export const FIRST_REQUESTS = 2000;

/**
 * Requests of a round: about 250 ms of CPU of the plain model for each workload. In short rounds, the first requests of new
 * connections, which arrive one by one, are a large part, and all servers look alike.
 */
const TURN: Readonly<Record<ItemWorkload, number>> = {
  list: 768,
  retrieve: 2304,
  create: 1024,
  change: 1280,
};

export interface Participant {
  readonly server: RunningServer;
  readonly requests: ItemRequests;
}

/** Microseconds of server CPU per request, and the ratio to the reference in the same rounds. */
export interface Cost {
  readonly cpu: number;
  readonly ratio: number;
}

/** One round of a participant and the reference, in microseconds of server CPU per request. */
interface Round {
  readonly cpu: number;
  readonly reference: number;
}

/** One start of one variant. */
export interface VariantRun {
  readonly variant: VariantName;
  readonly costs: Readonly<Record<ItemWorkload, Cost>>;
  /** Microseconds for one of the first requests, with all four workloads alternating. */
  readonly first: number;
}

export interface MeasureOptions {
  readonly turns: number;
  /** Requests after the first ones that are not measured. */
  readonly settle: number;
}

/** The first requests, the warm-up, and rounds alternating with the reference, so that the ratio is independent of the machine's speed. */
export async function measureVariant(
  reference: Participant,
  participant: Participant,
  { turns, settle }: MeasureOptions,
): Promise<VariantRun> {
  const { server, requests } = participant;
  const first = await measureCpu(server, FIRST_REQUESTS, requests.mixed(false));
  await checkAnswers(server.port, requests);
  await loadRequests(server.port, settle, requests.mixed(true));
  const rounds: Record<ItemWorkload, Round[]> = { list: [], retrieve: [], create: [], change: [] };
  for (let turn = 0; turn < turns; turn++) {
    for (const workload of ITEM_WORKLOADS) {
      const sample = async (each: Participant): Promise<number> =>
        measureCpu(each.server, TURN[workload], each.requests.of(workload));
      const before = turn % 2 === 0 ? await sample(reference) : undefined;
      const cpu = await sample(participant);
      rounds[workload].push({ cpu, reference: before ?? (await sample(reference)) });
    }
  }
  return {
    variant: requests.variant.name,
    first,
    costs: {
      list: costOf(rounds.list),
      retrieve: costOf(rounds.retrieve),
      create: costOf(rounds.create),
      change: costOf(rounds.change),
    },
  };
}

async function measureCpu(server: RunningServer, amount: number, requests: RequestsOf): Promise<number> {
  const before = (await server.usage()).cpuMicroseconds;
  const { requests: answered } = await loadRequests(server.port, amount, requests);
  return ((await server.usage()).cpuMicroseconds - before) / answered;
}

/**
 * The lower quartiles of the rounds, and their ratio. Other processes of the machine disturb single rounds of either server, and a
 * disturbed round is only slower.
 */
function costOf(rounds: readonly Round[]): Cost {
  const cpu = lowerQuartile(rounds.map((round) => round.cpu)) ?? 0;
  return { cpu, ratio: cpu / (lowerQuartile(rounds.map(({ reference }) => reference)) ?? 1) };
}
