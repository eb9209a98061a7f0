import { parseJson, writeJson } from '../api/parse-json.js';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ActionDescription } from '../../../src/core/contracts/route-description.js';
import { fileNameOf, saveFile } from '../api/download.js';
import { toReply } from '../api/load.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { readableName } from '../values/label.js';
import { usePage } from '../views/context.js';
import { toBody } from './draft.js';
import type { Draft } from './draft.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import type { FormErrors } from './field-errors.js';
import { specsOfBody } from './field-spec.js';
import { Form } from './Form.js';
import { draftErrors } from './form-failure.js';
import { useDraft } from './use-draft.js';

interface ActionFormProps {
  readonly action: ActionDescription;
  readonly method: string;
  /** The path of the action. */
  readonly url: string;
}

/** What an action has responded. */
interface Outcome {
  readonly isError: boolean;
  readonly message: string;
  readonly body: string;
  /** The value of a response in JSON. */
  readonly value?: unknown;
}

/** Sends a body to an action of the application, and shows its response. Anything but JSON is saved as a file. */
export function ActionForm({ action, method, url }: ActionFormProps): JSX.Element {
  const { body, name } = action;
  const [outcome, setOutcome] = useState<Outcome>();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details
      class="panel"
      onToggle={(event) => {
        setIsOpen(event.currentTarget.open);
      }}
    >
      <summary>
        {readableName(name)} <code class="hint">{method}</code>
      </summary>
      {isOpen &&
        (body && method !== 'DELETE' ? (
          <FieldsForm action={action} body={body} method={method} url={url} show={setOutcome} />
        ) : (
          <JsonForm action={action} method={method} url={url} show={setOutcome} />
        ))}
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

interface BodyFormProps extends ActionFormProps {
  show(outcome: Outcome | undefined): void;
}

/** A form with the fields of the body that the action declares. */
function FieldsForm({
  action: { name },
  body,
  method,
  url,
  show,
}: BodyFormProps & { readonly body: NonNullable<ActionDescription['body']> }): JSX.Element {
  const specs = specsOfBody(body);
  const [draft, setDraft] = useDraft(`${method} ${url}`);
  const [errors, setErrors] = useState<FormErrors>(NO_ERRORS);
  const { isBusy, send } = useAction(name, method, url);
  const submit = async (): Promise<void> => {
    let written: Draft | Record<string, unknown>;
    try {
      written = toBody(draft, specs);
    } catch (error) {
      setErrors(draftErrors(error));
      return;
    }
    const outcome = await send(written);
    const refused = outcome.isError ? toFormErrors(outcome.value, specs) : NO_ERRORS;
    setErrors({ fields: refused.fields, general: [] });
    show(outcome);
    if (!outcome.isError) setDraft({});
  };
  return (
    <Form
      title={readableName(name)}
      specs={specs}
      initial={{}}
      draft={draft}
      errors={errors}
      isBusy={isBusy}
      submitLabel={text('sendAction', { name: readableName(name) })}
      change={setDraft}
      submit={() => void submit()}
      close={() => {
        setDraft({});
        setErrors(NO_ERRORS);
        show(undefined);
      }}
    />
  );
}

/** A text field for the JSON of a body that the action does not declare. */
function JsonForm({ action: { name }, method, url, show }: BodyFormProps): JSX.Element {
  const [draft, setDraft] = useDraft(`${method} ${url}`);
  const { isBusy, send } = useAction(name, method, url);
  const id = useId();
  const body = typeof draft.body === 'string' ? draft.body : '';
  const submit = async (): Promise<void> => {
    try {
      show(await send(body.trim() === '' ? undefined : parseJson(body)));
    } catch (error) {
      show({ isError: true, message: `JSON: ${error instanceof Error ? error.message : ''}`, body: '' });
    }
  };
  return (
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
        <button type="submit" class="main" disabled={isBusy}>
          {text('sendAction', { name: readableName(name) })}
        </button>
      </div>
    </form>
  );
}

/** Sends a body to an action; nothing else can be sent meanwhile. */
function useAction(
  name: string,
  method: string,
  url: string,
): { readonly isBusy: boolean; send(body: unknown): Promise<Outcome> } {
  const { client, openLogin, reload } = usePage();
  const [isBusy, setIsBusy] = useState(false);
  const sendNow = async (body: unknown): Promise<Outcome> => {
    const exchange = await client.send(url, { method, body });
    const { response } = exchange;
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type !== '' && !type.includes('json')) {
      const file = fileNameOf(url, /\/([\w-]+)/.exec(type)?.[1] ?? 'bin', new Date());
      saveFile(await response.blob(), file);
      return { isError: false, message: text('downloaded', { file, size: '' }), body: '' };
    }
    const reply = await toReply(exchange);
    if (reply.status === 401) openLogin();
    // The action may have changed what is shown.
    if (reply.status < 400) reload(text('actionDone', { name: readableName(name) }));
    return {
      isError: reply.status >= 400,
      message: `${text('status')} ${reply.status}`,
      body: reply.value === undefined ? reply.text : writeJson(reply.value, 2),
      value: reply.value,
    };
  };
  return {
    isBusy,
    send: async (body) => {
      setIsBusy(true);
      try {
        return await sendNow(body);
      } catch {
        return { isError: true, message: text('notSent'), body: '' };
      } finally {
        setIsBusy(false);
      }
    },
  };
}
