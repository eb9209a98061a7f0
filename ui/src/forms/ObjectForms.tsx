import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { ParentObject } from '../api/load.js';
import type { Row } from '../api/page.js';
import { parentPath, pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { modelNameOf } from '../values/label.js';
import { usePage } from '../views/context.js';
import { currentEntry } from '../views/page-history.js';
import { objectLabelOf } from '../views/title.js';
import { DeleteForm } from './DeleteForm.js';
import { DraftStore } from './draft-store.js';
import { changeMethod, EditForm } from './EditForm.js';
import { OpenButton } from './OpenButton.js';

interface ObjectFormsProps {
  readonly description: RouteDescription;
  readonly row: Row;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly parent: ParentObject | undefined;
}

/** Changes and deletes an object, where the caller may. */
export function ObjectForms({ description, row, labels, parent }: ObjectFormsProps): JSX.Element | null {
  const { url, navigate, reload } = usePage();
  const { methods, actions, deletion } = description;
  const path = withSlash(pathOf(url));
  const [open, setOpen] = useState<'change' | 'delete' | undefined>(() =>
    DraftStore.has(`${changeMethod(description)} ${path}`) ? 'change' : undefined,
  );
  const mayChange = (methods.includes('PATCH') || methods.includes('PUT')) && actions.PUT !== undefined;
  const close = (): void => {
    setOpen(undefined);
  };
  if (!mayChange && !deletion) return null;
  return (
    <>
      <div class="row">
        {mayChange && (
          <OpenButton
            label={text('change')}
            isOpen={open === 'change'}
            open={() => {
              setOpen('change');
            }}
          />
        )}
        {deletion && (
          <OpenButton
            label={text('delete')}
            isOpen={open === 'delete'}
            open={() => {
              setOpen('delete');
            }}
          />
        )}
      </div>
      {open === 'change' && (
        <EditForm
          description={description}
          url={path}
          labels={labels}
          close={close}
          done={() => {
            close();
            reload(text('saved'));
          }}
        />
      )}
      {open === 'delete' && deletion && (
        <DeleteForm
          description={description}
          deletion={deletion}
          url={path}
          name={`${modelNameOf(description)} “${objectLabelOf(row, description, parent)}”`}
          close={close}
          done={() => {
            navigate(currentEntry().from?.url ?? parentPath(path) ?? '/', text('deleted'));
          }}
        />
      )}
    </>
  );
}
