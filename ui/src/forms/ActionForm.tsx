import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { fileNameOf, saveFile } from '../api/download.js';
import { toReply } from '../api/load.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { usePage } from '../views/context.js';
import { useDraft } from './use-draft.js';

interface ActionFormProps {
  readonly name: string;
  readonly method: string;
  /** The path of the action. */
  readonly url: string;
}

/** What an action has responded. */
interface Outcome {
  readonly isError: boolean;
  readonly message: string;
  readonly body: string;
}

/** Sends a JSON body to an action of the application, and shows its response. Anything but JSON is saved as a file. */
export function ActionForm({ name, method, url }: ActionFormProps): JSX.Element {
  const { client, openLogin } = usePage();
  const [draft, setDraft] = useDraft(`${method} ${url}`);
  const [outcome, setOutcome] = useState<Outcome>();
  const [isBusy, setIsBusy] = useState(false);
  const id = useId();
  const body = typeof draft.body === 'string' ? draft.body : '';

  const send = async (): Promise<Outcome> => {
    const exchange = await client.send(url, {
      method,
      body: body.trim() === '' ? undefined : JSON.parse(body),
    });
    const { response } = exchange;
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type !== '' && !type.includes('json')) {
      const file = fileNameOf(url, /\/([\w-]+)/.exec(type)?.[1] ?? 'bin', new Date());
      saveFile(await response.blob(), file);
      return { isError: false, message: text('downloaded', { file, size: '' }), body: '' };
    }
    const reply = await toReply(exchange);
    if (reply.status === 401) openLogin();
    return {
      isError: reply.status >= 400,
      message: `${text('status')} ${reply.status}`,
      body: reply.value === undefined ? reply.text : JSON.stringify(reply.value, undefined, 2),
    };
  };
  const submit = async (): Promise<void> => {
    setIsBusy(true);
    try {
      setOutcome(await send());
    } catch (error) {
      const message = error instanceof SyntaxError ? `JSON: ${error.message}` : text('notSent');
      setOutcome({ isError: true, message, body: '' });
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <details class="panel">
      <summary>
        <code>{method}</code> {name}
      </summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void submit();
        }}
      >
        <label for={id}>{text('actionBody')}</label>
        <textarea
          id={id}
          class="code"
          rows={4}
          value={body}
          placeholder="{}"
          spellcheck={false}
          onInput={(event) => {
            setDraft({ body: event.currentTarget.value });
          }}
        />
        <div class="row">
          <button type="submit" class="main" disabled={isBusy} aria-label={`${text('sendAction')} ${name}`}>
            {text('sendAction')}
          </button>
        </div>
      </form>
      {outcome && (
        <div role={outcome.isError ? 'alert' : 'status'} class={outcome.isError ? 'problem' : ''}>
          <p>{escapeText(outcome.message)}</p>
          {outcome.body !== '' && (
            <pre class="code" tabIndex={0}>
              {escapeText(outcome.body.slice(0, 50_000))}
            </pre>
          )}
        </div>
      )}
    </details>
  );
}
