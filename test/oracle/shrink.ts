import { Oracle } from './oracle.js';
import type { Subject } from './oracle.js';
import { Connection } from './send-step.js';
import { objectsOf } from './step.js';
import type { Step } from './step.js';

/** The maximum number of applications that are started for one problem. */
const MOST_STARTS = 40;

interface Shrinking {
  start(): Promise<Subject>;
}

/**
 * Minimizes a sequence of requests that reproduces a problem in a new application, as curl commands. First tries the requests on
 * which the last one depends; if these are not enough, removes parts of the whole sequence.
 */
export async function minimalSequence(
  steps: readonly Step[],
  signature: string,
  shrinking: Shrinking,
): Promise<readonly string[]> {
  const trial = new Replay(signature, shrinking);
  const last = steps.at(-1);
  if (!last) return [];
  const needed = restedOn(steps);
  let kept = (await trial.shows(needed)) ? needed : undefined;
  kept ??= (await trial.shows(steps)) ? await halved(steps, trial) : undefined;
  if (!kept) return [...trial.curls(), '# the problem does not come again in a fresh application'];
  kept = await withoutEach(kept, trial);
  await trial.shows(kept);
  return trial.curls();
}

/** The last step, and the steps that have created its objects. */
function restedOn(steps: readonly Step[]): readonly Step[] {
  const last = steps.at(-1);
  const wanted = new Set<string>();
  const kept: Step[] = [];
  for (const step of [...steps].reverse()) {
    if (step !== last && !wanted.has(String(step.number))) continue;
    kept.unshift(step);
    for (const object of objectsOf(step)) wanted.add(object.split('.')[0] ?? object);
  }
  return kept;
}

async function halved(steps: readonly Step[], trial: Replay): Promise<readonly Step[]> {
  let kept = steps;
  for (let size = Math.floor(steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let begin = 0; begin + size < kept.length;) {
      const fewer = [...kept.slice(0, begin), ...kept.slice(begin + size)];
      if (await trial.shows(fewer)) kept = fewer;
      else begin += size;
    }
  }
  return kept;
}

async function withoutEach(steps: readonly Step[], trial: Replay): Promise<readonly Step[]> {
  let kept = steps;
  for (const step of steps.slice(0, -1)) {
    const fewer = kept.filter((each) => each !== step);
    if (await trial.shows(fewer)) kept = fewer;
  }
  return kept;
}

class Replay {
  private starts = 0;
  private last: readonly string[] = [];

  constructor(
    private readonly signature: string,
    private readonly shrinking: Shrinking,
  ) {}

  curls(): readonly string[] {
    return this.last;
  }

  async shows(steps: readonly Step[]): Promise<boolean> {
    if (this.starts++ > MOST_STARTS) return false;
    const subject = await this.shrinking.start();
    const connection = new Connection(
      subject.port,
      new Map(subject.actors.map((actor) => [actor.name, actor])),
    );
    const oracle = new Oracle(subject, connection);
    const curls: string[] = [];
    let shown = false;
    try {
      for (const step of steps) {
        const { curl, problems, status } = await oracle.run(step);
        curls.push(`${curl}  # ${status}`);
        shown = problems.some(({ rule }) => `${step.operation}: ${rule}` === this.signature);
      }
    } finally {
      connection.close();
      await subject.close();
    }
    if (shown) this.last = curls;
    return shown;
  }
}
