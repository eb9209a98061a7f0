import type { ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The error code INTERNAL_ERROR of HTTP/2 (RFC 9113, section 7). */
const INTERNAL_ERROR = 2;

/** The response of HTTP/1.x, or that of HTTP/2, which has a stream in the place of a connection. */
interface AnyResponse {
  readonly stream?: ServerHttp2Stream;
  readonly socket: (Socket & { readonly _parent?: Socket | null }) | null;
}

/**
 * How long a client may read what was sent before the reset, in milliseconds. One that gets both at once may see the end of
 * the connection in the place of an error, as libuv does, or nothing of the response.
 */
const READ_TIME = 100;

/**
 * Breaks off a response whose body cannot be completed, so that no client takes a part for the whole (contract 4.12): the
 * stream of HTTP/2 ends with an error, the connection of HTTP/1.x is reset. The end of a connection would not do: a body of
 * HTTP/1.0 without a length ends with it.
 */
export async function breakOff(response: ServerResponse): Promise<void> {
  const { stream }: AnyResponse = response;
  if (stream) {
    stream.close(INTERNAL_ERROR);
    return;
  }
  await pause(READ_TIME);
  const { socket }: AnyResponse = response;
  if (socket) reset(socket);
  // A pipelined request: the responses before this one are sent first.
  else response.once('socket', reset);
  response.destroy();
}

/** Resets a connection, below its encryption. One that cannot be reset, such as a Unix socket, is closed. */
function reset(socket: NonNullable<AnyResponse['socket']>): void {
  try {
    (socket._parent ?? socket).resetAndDestroy();
  } catch {
    socket.destroy();
  }
}

/** Whether the client has disconnected, or has cancelled the stream of HTTP/2. */
export function isClosed(response: ServerResponse): boolean {
  const { stream }: AnyResponse = response;
  return stream ? stream.closed || stream.destroyed : response.destroyed;
}
