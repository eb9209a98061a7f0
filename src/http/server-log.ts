import type { LoggerService } from '@nestjs/common';
import type { ErrorContext, ErrorListener } from '../core/contracts/errors.js';
import { isRestException } from '../core/errors/rest-exception.js';
import { UnknownPath } from '../core/query/resolve-row-filter.js';
import type { Api } from '../core/schema/route.js';

const NO_MODELS =
  'No entity of the data source has @Restify. With autoLoadEntities, list entities in TypeOrmModule.forFeature([…]);' +
  ' a file of which only types are imported is not loaded.';

const MOST_MISTAKES = 1000;

/** The log of one application's prefixes. No method throws, even if the logger does: a request must not fail because of it. */
export class ServerLog {
  /** Mistakes of the application that each request would log anew. */
  private readonly mistakes = new Set<string>();

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

  /** An error of `describe` is ignored, as one of the logger. */
  debug(describe: () => string): void {
    ignoreErrors(() => {
      this.logger.debug?.(describe());
    });
  }

  warn(text: string): void {
    ignoreErrors(() => {
      this.logger.warn(text);
    });
  }

  /**
   * Logs an error, and passes it to the listener of its prefix. A wrong path in a row filter of the application is reported once.
   * @param subject what has failed; without it, the request.
   */
  reportError(error: unknown, { context, listener, subject }: ErrorReport): void {
    // The error of the driver or the application behind an error of this package.
    const cause = isRestException(error) && error.cause instanceof Error ? error.cause : error;
    if (this.isRepeated(cause)) return;
    const { method, path = '', requestId } = context;
    // No line of the request itself has the identifier beside it.
    const about = subject !== undefined && requestId !== undefined ? ` after the request ${requestId}` : '';
    this.logError(`${subject ?? `${method} ${path} failed`}${about}`, cause, context);
    if (!listener) return;
    // In an async function, what the listener throws at once is a rejection, too.
    const notify = async (): Promise<void> => listener.onError(cause, context);
    notify().catch((failure: unknown) => {
      this.logError('The onError of the prefix failed', failure, context);
    });
  }

  private isRepeated(error: unknown): boolean {
    if (!(error instanceof UnknownPath)) return false;
    if (this.mistakes.has(error.message)) return true;
    // A path may be made of values.
    if (this.mistakes.size < MOST_MISTAKES) this.mistakes.add(error.message);
    return false;
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

function describeValue(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something without a text was thrown';
  }
}

/**
 * The start-up log line: how many models are served below which path, with the global prefix and the version. `mounts`
 * are the paths before the prefixes.
 */
function describeServedModels(apis: readonly Api[], mounts: readonly string[]): string {
  return apis
    .flatMap(({ prefix, routes }) => {
      const count = new Set(routes.flatMap(({ parent, resource }) => (parent ? [] : resource))).size;
      return mounts.map(
        (mount, index) =>
          `${index === 0 ? `${count} model${count === 1 ? '' : 's'} below ` : 'and '}${mount}/${prefix === '' ? '' : `${prefix}/`}`,
      );
    })
    .join(', ')
    .replaceAll(', and ', ' and ');
}
