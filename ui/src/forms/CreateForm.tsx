import { writeJson } from '../api/parse-json.js';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';
import { modelNameOf } from '../values/label.js';
import { useSpecs } from './children.js';
import { toBody } from './draft.js';
import type { Draft } from './draft.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import { Form } from './Form.js';
import { draftErrors, failureOf } from './form-failure.js';
import { useDraft } from './use-draft.js';
import { createKey, useWrite } from './use-write.js';

interface CreateFormProps {
  readonly description: RouteDescription;
  /** The path of the list. */
  readonly url: string;
  /** Values that are set before anything is typed. */
  readonly preset?: Draft;
  /** Of the form and its button, if an object is added to a list of others. */
  readonly title?: string | undefined;
  /** What the draft is kept for, if not the list. */
  readonly draftName?: string;
  close(): void;
  /** @param created the body of the response. */
  done(created: unknown): void;
}

const NO_PRESET: Draft = {};

/** A form for a new object. */
export function CreateForm({
  description,
  url,
  preset = NO_PRESET,
  draftName = `POST ${url}`,
  title,
  close,
  done,
}: CreateFormProps): JSX.Element {
  const specs = useSpecs({ description, method: 'POST', url });
  const [typed, setDraft] = useDraft(draftName);
  const draft = { ...preset, ...typed };
  const [errors, setErrors] = useState(NO_ERRORS);
  const { isBusy, send } = useWrite();
  // The same request is repeated with the same key, so that a lost response creates no second object.
  const sent = useRef<{ readonly body: string; readonly key: string }>();
  if (!specs) return <p class="hint">{text('loading')}</p>;
  const submit = async (): Promise<void> => {
    let body: Record<string, unknown>;
    try {
      body = toBody(draft, specs);
    } catch (error) {
      setErrors(draftErrors(error));
      return;
    }
    const written = writeJson(body);
    if (sent.current?.body !== written) sent.current = { body: written, key: createKey() };
    const { idempotency } = description;
    const headers: Readonly<Record<string, string>> = idempotency
      ? { [idempotency.header]: sent.current.key }
      : {};
    const reply = await send(url, { method: 'POST', body, headers });
    if (!reply || reply.status >= 400) {
      setErrors(failureOf(reply) ?? toFormErrors(reply?.value, specs, draft));
      return;
    }
    setDraft({});
    done(reply.value);
  };
  return (
    <Form
      title={title ?? text('createOf', { name: modelNameOf(description) })}
      specs={specs}
      initial={{}}
      draft={draft}
      errors={errors}
      isBusy={isBusy}
      submitLabel={title ?? text('createNamed', { name: modelNameOf(description) })}
      change={setDraft}
      submit={() => void submit()}
      close={() => {
        setDraft({});
        close();
      }}
    />
  );
}
