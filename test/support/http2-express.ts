import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { createServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/**
 * Express over HTTP/2 without TLS, as packages such as http2-express make it: its requests and responses inherit from those
 * of Node's HTTP/2.
 */
export class Http2ExpressAdapter extends ExpressAdapter {
  constructor() {
    const application = express();
    const { request, response } = application;
    application.request = inherit(Http2ServerRequest.prototype, request);
    application.response = inherit(Http2ServerResponse.prototype, response);
    super(application);
  }

  override initHttpServer(): void {
    const listener = this.getInstance<Parameters<typeof createServer>[0]>();
    Object.assign(this, { httpServer: createServer(listener as never) });
  }
}

/** An object of Express's with another prototype. */
function inherit<Given extends object>(prototype: object, given: Given): Given {
  const own = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(given) as object);
  return Object.create(prototype, { ...own, ...Object.getOwnPropertyDescriptors(given) }) as Given;
}
