import type { Reply } from '../api/load.js';
import { text } from '../messages/messages.js';
import { DraftError } from './draft.js';
import { NO_ERRORS } from './field-errors.js';
import type { FormErrors } from './field-errors.js';

/** The messages of a response that does not blame the fields; undefined for one that does. */
export function failureOf(reply: Reply | undefined): FormErrors | undefined {
  if (!reply) return { fields: {}, general: [text('notSent')] };
  const { status, value } = reply;
  if (status === 400) return undefined;
  const detail = (value as { readonly detail?: unknown } | null | undefined)?.detail;
  return { fields: {}, general: [explain(status), ...(typeof detail === 'string' ? [detail] : [])] };
}

function explain(status: number): string {
  switch (status) {
    case 401:
      return text('loginExpired');
    case 403:
      return text('notAllowed');
    case 404:
      return text('notFound');
    case 412:
    case 428:
      return text('changedByOthers');
    default:
      return `${status}: ${text('invalidRequest')}`;
  }
}

/** The message of a text that is not a value of its field. */
export function draftErrors(error: unknown): FormErrors {
  if (!(error instanceof DraftError)) throw error;
  return { ...NO_ERRORS, fields: { [error.field]: [error.message] } };
}
