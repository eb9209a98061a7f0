import type { LoggerService } from '@nestjs/common';
import type { ErrorContext, ErrorListener } from '../core/contracts/error-listener.js';
import { isRestException } from '../core/errors/rest-exception.js';
import type { Api } from '../core/schema/route.js';
import { describeServedModels } from './describe-served-models.js';

const NO_MODELS =
  'No entity of the data source has @Restify. With autoLoadEntities, list entities in TypeOrmModule.forFeature([…]);' +
  ' a file of which only types are imported is not loaded.';

/** The log of one application's prefixes. No method throws, even if the logger does: a request must not fail because of it. */
export class ServerLog {
  constructor(private readonly logger: LoggerService) {}

  /** Logs which models are served, below which paths, and warns of a prefix without any. */
  logServedModels(apis: readonly Api[], mounts: readonly string[]): void {
    const serving = apis.filter(({ routes }) => routes.length > 0);
    if (serving.length > 0)
      ignoreErrors(() => {
        this.logger.log(describeServedModels(serving, mounts));
      });
    for (const api of apis)
      if (!serving.includes(api)) this.warn(`${describeServedModels([api], mounts)}. ${NO_MODELS}`);
  }

  warn(text: string): void {
    ignoreErrors(() => {
      this.logger.warn(text);
    });
  }

  /**
   * Logs an error, and passes it to the listener of its prefix.
   * @param subject what has failed; without it, the request.
   */
  reportError(error: unknown, { context, listener, subject }: ErrorReport): void {
    const cause = findCause(error);
    this.logError(subject ?? `${context.method} ${context.path ?? ''} failed`, cause, context);
    if (!listener) return;
    // In an async function, what the listener throws at once is a rejection, too.
    const notify = async (): Promise<void> => listener.onError(cause, context);
    notify().catch((failure: unknown) => {
      this.logError('The onError of the prefix failed', failure, context);
    });
  }

  /** Nest's `error(error, stack, context)`: loggers print the error itself, and this text in the place of its stack. */
  private logError(subject: string, error: unknown, { model, operation }: ErrorContext): void {
    const details = [model, operation].filter((each) => each !== undefined).join(', ');
    const text = details === '' ? subject : `${subject} (${details})`;
    ignoreErrors(() => {
      if (error instanceof Error) this.logger.error(error, text);
      else this.logger.error(`${text}: ${describeValue(error)}`);
    });
  }
}

export interface ErrorReport {
  readonly context: ErrorContext;
  readonly listener: ErrorListener | undefined;
  readonly subject?: string | undefined;
}

function ignoreErrors(write: () => void): void {
  try {
    write();
  } catch {
    // There is nowhere else to report it.
  }
}

/** The error of the driver or the application behind an error of this package. */
function findCause(error: unknown): unknown {
  return isRestException(error) && error.cause instanceof Error ? error.cause : error;
}

function describeValue(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something without a text was thrown';
  }
}
