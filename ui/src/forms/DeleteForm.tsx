import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeletionDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { JSON_TYPE } from '../api/client.js';
import type { Client } from '../api/client.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { readableName } from '../values/label.js';
import { usePage } from '../views/context.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import { failureOf } from './form-failure.js';
import { useWrite } from './use-write.js';

interface DeleteFormProps {
  readonly description: RouteDescription;
  readonly deletion?: DeletionDescription;
  /** The URL of the object. */
  readonly url: string;
  /** The path that deletes a deleted object for good. */
  readonly purge?: string;
  /** The label of the object. */
  readonly name: string;
  close(): void;
  done(): void;
}

/** Asks whether an object is to be deleted, and says what goes with it. */
export function DeleteForm(props: DeleteFormProps): JSX.Element {
  const { description, deletion, url, purge, name, close, done } = props;
  const { client } = usePage();
  const label = text(purge === undefined ? 'delete' : 'purge');
  const [errors, setErrors] = useState(NO_ERRORS);
  const { isBusy, send } = useWrite();
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    cancel.current?.focus();
  }, []);
  const remove = async (): Promise<void> => {
    const headers = description.conditional ? await tagOf(client, url) : {};
    const reply = await send(purge ?? url, { method: purge === undefined ? 'DELETE' : 'POST', headers });
    if (reply && reply.status < 400) done();
    else setErrors(failureOf(reply) ?? toFormErrors(reply?.value, []));
  };
  return (
    <section class="form" role="alertdialog" aria-label={label}>
      <h2>{text(purge === undefined ? 'deleteObject' : 'purgeObject', { name: escapeText(name) })}</h2>
      {errors.general.map((message) => (
        <div key={message} class="problem" role="alert">
          <p>{escapeText(message)}</p>
        </div>
      ))}
      {deletion && <Consequences deletion={deletion} />}
      <div class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={() => void remove()}>
          {label}
        </button>
        <button ref={cancel} type="button" disabled={isBusy} onClick={close}>
          {text('cancel')}
        </button>
      </div>
    </section>
  );
}

/** The condition that the object at a URL is as it is read now; none if it cannot be read. */
export async function tagOf(client: Client, url: string): Promise<Readonly<Record<string, string>>> {
  try {
    const { response } = await client.get(url, { accept: JSON_TYPE });
    const etag = response.headers.get('etag');
    return etag === null ? {} : { 'If-Match': etag };
  } catch {
    return {};
  }
}

/** What happens to objects that refer to a deleted one. */
export function Consequences({ deletion }: { readonly deletion: DeletionDescription }): JSX.Element {
  return (
    <>
      <Consequence deletion={deletion} effect="cascade" message="deletesToo" />
      <Consequence deletion={deletion} effect="change" message="changesToo" />
      <Consequence deletion={deletion} effect="restrict" message="isPreventedBy" />
    </>
  );
}

function Consequence({
  deletion,
  effect,
  message,
}: {
  readonly deletion: DeletionDescription;
  readonly effect: 'cascade' | 'change' | 'restrict';
  readonly message: 'deletesToo' | 'changesToo' | 'isPreventedBy';
}): JSX.Element | null {
  const models = deletion[effect].map((id) =>
    escapeText(deletion.labels?.[id] ?? readableName(id.slice(id.indexOf('.') + 1))),
  );
  return models.length === 0 ? null : <p>{text(message, { models: models.join(', ') })}</p>;
}
