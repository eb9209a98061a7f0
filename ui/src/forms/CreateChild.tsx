import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ParentDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { parentPath, pathOf, withSlash } from '../api/urls.js';
import { text } from '../messages/messages.js';
import { usePage } from '../views/context.js';
import { CreateForm } from './CreateForm.js';
import { DraftStore } from './draft-store.js';
import { OpenButton } from './OpenButton.js';

/** Creates objects of a one-to-many list, in the list of their own model, with the object above as their parent. */
export function CreateChild({
  parent,
  list,
  model,
}: {
  readonly parent: ParentDescription;
  /** The name of the model, for people. */
  readonly model: string;
  /** The path of the list of the model. */
  readonly list: string;
}): JSX.Element {
  const { url, loader, reload } = usePage();
  const path = withSlash(pathOf(url));
  const draftName = `POST ${path}`;
  const [description, setDescription] = useState<RouteDescription>();
  const [hasFailed, setHasFailed] = useState(false);
  const open = (): void => {
    loader.describeUrl(list, new AbortController().signal).then(
      (found) => {
        setDescription(found);
        setHasFailed(found?.actions.POST === undefined);
      },
      () => {
        setHasFailed(true);
      },
    );
  };
  // What was typed before is shown again.
  useEffect(() => {
    if (DraftStore.has(draftName)) open();
  }, [draftName]);
  const close = (): void => {
    setDescription(undefined);
  };
  return (
    <>
      <OpenButton
        label={text('createOf', { name: model })}
        isOpen={description !== undefined}
        isMain
        open={open}
      />
      {hasFailed && <span class="hint">{text('networkError')}</span>}
      {description?.actions.POST && (
        <CreateForm
          description={description}
          url={list}
          preset={{ [parent.field]: keyOf(path) }}
          draftName={draftName}
          close={close}
          done={() => {
            close();
            reload(text('created'));
          }}
        />
      )}
    </>
  );
}

/** The key of the object above a nested list: `/rest/v1/polls/question/1/choices/`. */
function keyOf(path: string): string {
  const above =
    parentPath(path)
      ?.split('/')
      .filter((part) => part !== '') ?? [];
  const segment = above.at(-1) ?? '';
  // The text of a composite key is percent-encoded in bodies, too.
  return segment.includes(',') ? segment : decodeURIComponent(segment);
}
