import type { Server } from 'node:http';
import { describePackage } from './installed-version.js';

/** What Fastify decides about requests that arrive while it closes. */
export interface ClosingState {
  /** Whether it rejects them: the option `return503OnClosing`. */
  readonly rejects: boolean;
  /** The servers for the other addresses of its host name. Complete once it listens. */
  readonly otherServers: readonly Server[];
}

/** Undefined if Fastify keeps its options or its servers in another way. */
export function probeClosing(instance: object): ClosingState | undefined {
  const options = valueUnder('fastify.options', instance);
  const otherServers = valueUnder('fastify.serverBindings', instance);
  if (typeof options !== 'object' || options === null || !Array.isArray(otherServers)) return undefined;
  const { return503OnClosing: rejects } = options as { readonly return503OnClosing?: boolean };
  return { rejects: rejects !== false, otherServers: otherServers as readonly Server[] };
}

/** Whether the application has set a serializer for this reply. */
export type HasSerializer = (reply: object) => boolean;

interface SampleReply {
  serializer(serialize: () => string): unknown;
}

/** Undefined if Fastify keeps the serializer of a reply in another way, which is tried with a reply without a request. */
export function probeSerializer(instance: object): HasSerializer | undefined {
  const Reply = valueUnder('fastify.Reply', instance);
  if (typeof Reply !== 'function') return undefined;
  try {
    const sample = new (Reply as new (...parameters: readonly object[]) => SampleReply)({}, {}, {});
    const symbol = symbolOf('fastify.reply.serializer', sample);
    if (symbol === undefined) return undefined;
    const hasSerializer: HasSerializer = (reply) => (reply as Symbols)[symbol] !== null;
    const before = hasSerializer(sample);
    sample.serializer(() => '');
    return !before && hasSerializer(sample) ? hasSerializer : undefined;
  } catch {
    return undefined;
  }
}

type Symbols = Readonly<Record<symbol, unknown>>;

function valueUnder(description: string, object: object): unknown {
  const symbol = symbolOf(description, object);
  return symbol && (object as Symbols)[symbol];
}

function symbolOf(description: string, object: object): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description);
}

/** The warning at start of an application that closes in Fastify's own way. */
export function describeUnknownClosing(): string {
  return `${describePackage('fastify', '@nestjs/platform-fastify')} closes in another way than this package knows, so that requests that arrive meanwhile get a 503 in its own form and without Retry-After. Please report it.`;
}

/** The warning at start of texts that are sent as bytes. */
export function describeUnknownSerializer(): string {
  return `${describePackage('fastify', '@nestjs/platform-fastify')} keeps the serializers of replies in another way than this package knows, so that each response takes one write more. Please report it.`;
}
