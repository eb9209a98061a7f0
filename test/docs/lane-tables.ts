import { READ_CAUSES } from '../../src/execution/choose-read.js';
import { WRITE_CAUSES } from '../../src/execution/write-causes.js';

interface Cause {
  /** The writes that it affects. */
  readonly of?: string;
  readonly what: string;
  readonly lane: string;
}

/** The rows of the tables of lanes, the head first. */
export function readLanes(): readonly (readonly string[])[] {
  return [['what', 'lane'], ...READ_CAUSES.map(({ what, lane }: Cause) => [what, `\`${lane}\``])];
}

export function writeLanes(): readonly (readonly string[])[] {
  const rows = WRITE_CAUSES.map(({ of = '', what, lane }: Cause) => [what, of, `\`${lane}\``]);
  return [['what', 'writes', 'lane'], ...rows];
}
