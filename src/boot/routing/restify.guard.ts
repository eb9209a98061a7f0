import { Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { REST_SERVER } from '../tokens.js';
import { expressExchange } from './express-exchange.js';
import type { RestServer } from './rest-server.js';

/** Admission as a Nest guard, so that nothing that replaces a handler stands before it. */
@Injectable()
export class RestifyGuard implements CanActivate {
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /** Throws what contract 6 says; never answers false. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    await this.server.admit(expressExchange(http.getRequest<IncomingMessage>(), http.getResponse<ServerResponse>()));
    return true;
  }
}
