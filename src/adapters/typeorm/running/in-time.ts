import { DatabaseAway } from '../../../errors/request-errors.js';

/** What `waited` gives, if it comes before the deadline (a time of `Date.now()`); else a 503. What comes later is the caller's to see to. */
export async function inTime<Result>(waited: Promise<Result>, deadline: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new DatabaseAway({ cause: new Error('No connection to the database became free in time') }));
    }, Math.max(0, deadline - Date.now()));
  });
  try {
    return await Promise.race([waited, late]);
  } finally {
    clearTimeout(timer);
  }
}
