import { NotFoundException } from '@nestjs/common';
import type { ServerResponse } from 'node:http';

/** The response on Express, or the reply on Fastify. */
export type Reply =
  | ServerResponse
  | { readonly raw: ServerResponse; header(name: string, value: string): { send(text: string): unknown } };

/** Sends a text as JSON. Throws 404 without one. */
export function sendJson(reply: Reply, text: string | undefined): void {
  if (text === undefined) throw new NotFoundException();
  if ('raw' in reply) {
    reply.header('content-type', 'application/json').send(text);
    return;
  }
  reply.setHeader('Content-Type', 'application/json');
  reply.setHeader('Content-Length', Buffer.byteLength(text));
  reply.end(text);
}
