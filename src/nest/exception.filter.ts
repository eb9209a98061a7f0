import { Catch, Inject } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { OWN_ENHANCER, REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';

/** Converts every error of a generated route to a body of contract 6.1, including errors of the application's guards. */
@Catch()
export class RestifyExceptionFilter implements ExceptionFilter {
  static readonly [OWN_ENHANCER] = true;

  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    await this.server.sendError(
      this.server.getExchange(http.getRequest<object>(), http.getResponse<object>()),
      error,
    );
  }
}
