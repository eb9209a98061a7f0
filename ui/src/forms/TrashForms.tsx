import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RouteDescription, TrashDescription } from '../../../src/core/contracts/route-description.js';
import type { Row } from '../api/page.js';
import { parentPath, pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { modelNameOf } from '../values/label.js';
import { usePage } from '../views/context.js';
import { currentEntry } from '../views/page-history.js';
import { objectLabelOf } from '../views/title.js';
import { withDeleted } from '../views/trash.js';
import { DeleteForm, tagOf } from './DeleteForm.js';
import { NO_ERRORS, toFormErrors } from './field-errors.js';
import { failureOf } from './form-failure.js';
import { OpenButton } from './OpenButton.js';
import { useWrite } from './use-write.js';

interface TrashFormsProps {
  readonly description: RouteDescription;
  readonly trash: TrashDescription;
  readonly row: Row;
}

/** Restores a deleted object, or deletes it for good, where the caller may. */
export function TrashForms({ description, trash, row }: TrashFormsProps): JSX.Element | null {
  const { client, url, navigate } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const [errors, setErrors] = useState(NO_ERRORS);
  const { isBusy, send } = useWrite();
  const path = withSlash(pathOf(url));
  const deleted = withDeleted(path, description, 'only');
  const restore = async (): Promise<void> => {
    const headers = description.conditional ? await tagOf(client, deleted) : {};
    const reply = await send(`${path}restore/`, { method: 'POST', headers });
    if (reply && reply.status < 400) navigate(path, text('restored'));
    else setErrors(failureOf(reply) ?? toFormErrors(reply?.value, []));
  };
  if (description.kind !== 'object' || (!trash.restore && !trash.purge)) return null;
  return (
    <>
      <div class="row">
        {trash.restore && (
          <button type="button" disabled={isBusy} onClick={() => void restore()}>
            {text('restore')}
          </button>
        )}
        {trash.purge && (
          <OpenButton
            label={text('purge')}
            isOpen={isOpen}
            open={() => {
              setIsOpen(true);
            }}
          />
        )}
      </div>
      {errors.general.map((message) => (
        <div key={message} class="problem" role="alert">
          <p>{escapeText(message)}</p>
        </div>
      ))}
      {isOpen && (
        <DeleteForm
          description={description}
          deletion={trash.deletion}
          url={deleted}
          purge={`${path}purge/`}
          name={`${modelNameOf(description)} “${objectLabelOf(row, description, undefined)}”`}
          close={() => {
            setIsOpen(false);
          }}
          done={() => {
            const list = withDeleted(parentPath(path) ?? '/', description, 'only');
            navigate(currentEntry().from?.url ?? list, text('purged'));
          }}
        />
      )}
    </>
  );
}
