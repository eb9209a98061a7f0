import { ExpressAdapter } from '@nestjs/platform-express';
import { IncomingMessage, ServerResponse, createServer } from 'node:http';

type Begin = (this: object, ...args: readonly unknown[]) => void;

/** Creates requests and responses with Express's prototypes, as this package does: without this, the limit would be lower than its own result. */
export class BegunAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const application = this.getInstance<
      Parameters<typeof createServer>[1] & { readonly request: object; readonly response: object }
    >();
    this.httpServer = createServer(
      {
        IncomingMessage: beginning(IncomingMessage, application.request),
        ServerResponse: beginning(ServerResponse, application.response),
      },
      application,
    );
  }
}

function beginning<Made extends object>(made: Made, prototype: object): Made {
  function Begun(this: object, first: unknown, second: unknown): void {
    (made as unknown as Begin).call(this, first, second);
  }
  Begun.prototype = prototype;
  return Begun as unknown as Made;
}
