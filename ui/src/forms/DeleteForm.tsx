import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeletionDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { JSON_TYPE } from '../api/client.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { usePage } from '../views/context.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import { failureOf } from './form-failure.js';
import { useWrite } from './use-write.js';

interface DeleteFormProps {
  readonly description: RouteDescription;
  readonly deletion: DeletionDescription;
  /** The path of the object. */
  readonly url: string;
  /** The label of the object. */
  readonly name: string;
  close(): void;
  done(): void;
}

/** Asks whether an object is to be deleted, and says what goes with it. */
export function DeleteForm({ description, deletion, url, name, close, done }: DeleteFormProps): JSX.Element {
  const { client } = usePage();
  const [errors, setErrors] = useState(NO_ERRORS);
  const { isBusy, send } = useWrite();
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    cancel.current?.focus();
  }, []);
  const remove = async (): Promise<void> => {
    const headers = description.conditional ? await tagOf() : {};
    const reply = await send(url, { method: 'DELETE', headers });
    if (reply && reply.status < 400) done();
    else setErrors(failureOf(reply) ?? toFormErrors(reply?.value, []));
  };
  const tagOf = async (): Promise<Readonly<Record<string, string>>> => {
    try {
      const { response } = await client.get(url, { accept: JSON_TYPE });
      const etag = response.headers.get('etag');
      return etag === null ? {} : { 'If-Match': etag };
    } catch {
      return {};
    }
  };
  return (
    <section class="form" role="alertdialog" aria-label={text('delete')}>
      <h2>{text('deleteObject', { name: escapeText(name) })}</h2>
      {errors.general.map((message) => (
        <div key={message} class="problem" role="alert">
          <p>{escapeText(message)}</p>
        </div>
      ))}
      <Consequences deletion={deletion} />
      <div class="row">
        <button type="button" class="danger" disabled={isBusy} onClick={() => void remove()}>
          {text('delete')}
        </button>
        <button ref={cancel} type="button" disabled={isBusy} onClick={close}>
          {text('cancel')}
        </button>
      </div>
    </section>
  );
}

/** What happens to objects that refer to a deleted one. */
export function Consequences({ deletion }: { readonly deletion: DeletionDescription }): JSX.Element {
  return (
    <>
      <Consequence models={deletion.cascade} message="deletesToo" />
      <Consequence models={deletion.change} message="changesToo" />
      <Consequence models={deletion.restrict} message="isPreventedBy" />
    </>
  );
}

function Consequence({
  models,
  message,
}: {
  readonly models: readonly string[];
  readonly message: 'deletesToo' | 'changesToo' | 'isPreventedBy';
}): JSX.Element | null {
  return models.length === 0 ? null : <p>{text(message, { models: models.join(', ') })}</p>;
}
