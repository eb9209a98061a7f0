import type { ServerResponse } from 'node:http';

/** True if the connection closed before the response was complete. */
export function isAborted(response: ServerResponse): boolean {
  return response.destroyed && !response.writableFinished;
}
