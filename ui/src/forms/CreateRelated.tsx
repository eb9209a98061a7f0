import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { text } from '../messages/messages.js';
import type { Row } from '../api/page.js';
import { keyTextOf, labelOf } from '../values/label.js';
import { CreateForm } from './CreateForm.js';
import type { Choice, RelatedRows } from './related-rows.js';

interface CreateRelatedProps {
  readonly related: RelatedRows;
  /** The label of the field. */
  readonly label: string;
  done(choice: Choice): void;
}

/** Creates a related object in place, where the caller may. What it is is only asked for with the first use. */
export function CreateRelated({ related, label, done }: CreateRelatedProps): JSX.Element {
  const [description, setDescription] = useState<RouteDescription | 'refused'>();
  if (description === 'refused') return <span class="hint">{text('mayNotCreate')}</span>;
  if (description)
    return (
      <CreateForm
        description={description}
        url={related.list}
        close={() => {
          setDescription(undefined);
        }}
        done={(created) => {
          const key = keyTextOf(created as Row, description.key, true);
          if (key !== undefined) done({ key, label: labelOf(created as Row, description) });
          setDescription(undefined);
        }}
      />
    );
  const open = (): void => {
    related.describe(new AbortController().signal).then(
      (found) => {
        setDescription(found?.actions.POST && found.methods.includes('POST') ? found : 'refused');
      },
      () => {
        setDescription('refused');
      },
    );
  };
  return (
    <button type="button" class="small" onClick={open} aria-label={text('createRelated', { name: label })}>
      {text('createNew')}
    </button>
  );
}
