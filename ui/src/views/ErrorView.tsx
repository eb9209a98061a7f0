import type { JSX } from 'preact';
import type { Reply } from '../api/load.js';
import { text } from '../messages/messages.js';
import { messagesOf } from '../values/error-messages.js';
import { escapeText } from '../values/escape-text.js';

/** Messages that say no more than the words for their status. */
const SAID: ReadonlySet<string> = new Set([
  'Not found.',
  'You do not have permission to perform this action.',
]);

/** An error of the server, in words. */
export function ErrorView({ reply }: { readonly reply: Reply }): JSX.Element {
  const details = messagesOf(reply.value).filter((each) => !SAID.has(each));
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{reply.status}</strong> {explain(reply)}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map((detail) => (
            <li key={detail}>
              <bdi>{escapeText(detail)}</bdi>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function explain({ status, value }: Reply): string {
  switch (status) {
    case 403:
      return text('notAllowed');
    case 404:
      return text('notFound');
    default:
  }
  if (status < 500) return text('invalidRequest');
  const { id } = (value ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? text('serverError', { id }) : text('serverErrorPlain', { status });
}
