import { Catch, Inject } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';

/** Whatever is thrown on a generated route becomes a body of contract 6.1, the application's own guards included. */
@Catch()
export class RestifyExceptionFilter implements ExceptionFilter {
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    await this.server.sendError(
      this.server.getExchange(http.getRequest<object>(), http.getResponse<object>()),
      error,
    );
  }
}
