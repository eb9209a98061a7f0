import type { ServerResponse } from 'node:http';

/** Whether the connection has ended before the answer has. */
export function isAborted(response: ServerResponse): boolean {
  return response.destroyed && !response.writableFinished;
}
