import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { LibraryRequest } from '../../core/contracts/authentication.js';

/** The parts of Fastify that are used. Fastify is an optional peer dependency, so its types are not imported. */
export interface FastifyRequest extends LibraryRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly routeOptions: {
    readonly url?: string;
    readonly config: Readonly<Record<string, unknown>>;
    readonly handler?: unknown;
  };
  params: unknown;
  body?: unknown;
  readonly protocol?: string;
  readonly host: string;
  readonly ip?: string;
  readonly is404: boolean;
}

export interface FastifyReply {
  readonly raw: ServerResponse;
  /** The instance of the plugin of the route, which inherits from that of the application. */
  readonly server: object;
  /** Whether the response has been sent; false while a hook of the application delays it. */
  readonly sent: boolean;
  readonly statusCode: number;
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  getHeader(name: string): string | readonly string[] | number | undefined;
  getHeaders(): Readonly<Record<string, string | readonly string[] | number | undefined>>;
  hasHeader(name: string): boolean;
  removeHeader(name: string): unknown;
  send: (...payload: readonly [(string | Buffer | Readable)?]) => unknown;
  callNotFound(): unknown;
}

export type FastifyHandler = (this: unknown, request: FastifyRequest, reply: FastifyReply) => unknown;

/** A hook that is called with a payload, which it does not change. */
export type PayloadHook<Payload> = (
  request: FastifyRequest,
  reply: FastifyReply,
  ...rest: readonly [payload: Payload, done: () => void]
) => void;

/** A declared route, which `onRoute` hooks may change. */
export interface FastifyRoute {
  url: string;
  path?: string;
  method: string | readonly string[];
  handler: FastifyHandler;
  config?: Readonly<Record<string, unknown>>;
  constraints?: Readonly<Record<string, unknown>>;
  preParsing?: PayloadHook<Readable>;
  preValidation?: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;
  errorHandler?: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
}

/** Parses a body, and passes the value of `request.body` to `done`. */
export type FastifyParser = (
  request: FastifyRequest,
  payload: Readable,
  done: (error: null, body: unknown) => void,
) => void;

interface ConstraintStrategy {
  readonly name: string;
  storage(): { get(value: unknown): unknown; set(value: unknown, handler: unknown): void };
  deriveConstraint(request: IncomingMessage): string | undefined;
}

export type FastifyMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void;

export interface FastifyInstance {
  readonly initialConfig: {
    readonly bodyLimit?: number;
    readonly onProtoPoisoning?: string;
    readonly onConstructorPoisoning?: string;
  };
  readonly server: Server;
  readonly supportedMethods: readonly string[];
  addHttpMethod(method: string): unknown;
  /** Exists if a middleware plugin is registered. */
  use?: (this: FastifyInstance, ...given: readonly unknown[]) => unknown;
  addConstraintStrategy(strategy: ConstraintStrategy): void;
  addHook(name: 'onRoute', hook: (this: FastifyInstance, route: FastifyRoute) => void): unknown;
  addHook(
    name: 'onRequest',
    hook: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void,
  ): unknown;
  addHook(name: 'onSend', hook: PayloadHook<unknown>): unknown;
  addHook(name: 'preClose', hook: (done: () => void) => void): unknown;
  /** Fastify's parser of JSON, which is synchronous and ignores the request. */
  getDefaultJsonParser(
    onProtoPoisoning: string,
    onConstructorPoisoning: string,
  ): (request: undefined, body: string, done: (error: Error | null, value?: unknown) => void) => void;
  hasContentTypeParser(type: string): boolean;
  addContentTypeParser(type: string, parser: FastifyParser): unknown;
  removeContentTypeParser(type: string): unknown;
  removeAllContentTypeParsers(): unknown;
  register(plugin: (child: FastifyInstance, options: unknown, done: () => void) => void): unknown;
  route(route: FastifyRoute): unknown;
}
