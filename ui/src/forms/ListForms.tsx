import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import type { Row } from '../api/page.js';
import { pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { keyTextOf, modelNameOf } from '../values/label.js';
import { usePage } from '../views/context.js';
import { CreateChild } from './CreateChild.js';
import { CreateForm } from './CreateForm.js';
import { DraftStore } from './draft-store.js';
import { OpenButton } from './OpenButton.js';

/** Creates objects of a list, where the caller may. */
export function ListForms({
  description,
  list,
}: {
  readonly description: RouteDescription;
  /** The label of a list below an object. */
  readonly list?: string | undefined;
}): JSX.Element | null {
  const { url, links, navigate, reload } = usePage();
  const path = withSlash(pathOf(url));
  const [isOpen, setIsOpen] = useState(() => DraftStore.has(`POST ${path}`));
  const children = description.parent?.create;
  const childList = children === undefined ? undefined : links.toLocal(children);
  if (description.parent && childList !== undefined)
    return <CreateChild parent={description.parent} list={childList} model={modelNameOf(description)} />;
  if (!description.methods.includes('POST') || !description.actions.POST) return null;
  const title =
    description.kind === 'through-list' && list !== undefined ? text('addTo', { list }) : undefined;
  const show = (created: unknown): void => {
    setIsOpen(false);
    const key = keyTextOf(created as Row, description.key, description.key_is_text);
    const objects = description.objects === undefined ? undefined : links.toLocal(description.objects);
    // Below an object, the list stays.
    const stays = description.kind !== 'collection';
    if (stays || key === undefined || objects === undefined) reload(text('created'));
    else navigate(`${objects}${key}/`, text('created'));
  };
  return (
    <>
      <OpenButton
        label={title ?? text('createOf', { name: modelNameOf(description) })}
        isOpen={isOpen}
        isMain
        open={() => {
          setIsOpen(true);
        }}
      />
      {isOpen && (
        <CreateForm
          description={description}
          url={path}
          title={title}
          close={() => {
            setIsOpen(false);
          }}
          done={show}
        />
      )}
    </>
  );
}
