import type { LoggerService } from '@nestjs/common';
import type { Api } from '../core/schema/route.js';
import { describeServedModels } from './describe-served-models.js';

/** The log of one application's prefixes. No method throws, even if the logger does: a request must not fail because of it. */
export class ServerLog {
  constructor(private readonly logger: LoggerService) {}

  /** Logs which models are served, below which paths. */
  logServedModels(apis: readonly Api[], mounts: readonly string[]): void {
    ignoreErrors(() => {
      this.logger.log(describeServedModels(apis, mounts));
    });
  }

  warn(text: string): void {
    ignoreErrors(() => {
      this.logger.warn(text);
    });
  }

  /** @param subject what has failed: the beginning of the line, before the error. */
  logError(subject: string, error: unknown): void {
    ignoreErrors(() => {
      this.logger.error(`${subject}: ${describeError(error)}`);
    });
  }
}

function ignoreErrors(write: () => void): void {
  try {
    write();
  } catch {
    // There is nowhere else to report it.
  }
}

/** The stack of an error or of its cause; the text of any other value, if it has one. */
function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error) return cause.stack ?? cause.message;
  try {
    return String(cause);
  } catch {
    return 'something without a text was thrown';
  }
}
