import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../messages/messages.js';
import { escapeText } from '../values/escape-text.js';
import { shorten } from '../values/format.js';
import { usePage } from '../views/context.js';
import type { InputProps } from './FieldInput.js';
import { Picker } from './Picker.js';
import { RelatedRows } from './related-rows.js';

/** More labels are not requested: the other objects are shown by their keys. */
const MOST_LABELS = 50;

/** Chooses several related objects: each is a chip, and a search adds others. */
export function KeysInput(props: InputProps): JSX.Element {
  const { spec, value, change } = props;
  const keys = Array.isArray(value) ? (value as readonly string[]) : [];
  const labels = useLabels(spec.relation?.url ?? '', keys.slice(0, MOST_LABELS));
  return (
    <div class="children">
      {keys.length > 0 && (
        <ul class="chips" aria-label={spec.label}>
          {keys.map((key) => {
            const name = escapeText(shorten(labels[key] ?? key));
            return (
              <li key={key}>
                <bdi>{name}</bdi>
                <button
                  type="button"
                  class="small"
                  aria-label={text('removeChosen', { name })}
                  onClick={() => {
                    change(keys.filter((each) => each !== key));
                  }}
                >
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <Picker
        {...props}
        value={null}
        creates={false}
        change={(key) => {
          if (typeof key === 'string' && key !== '' && !keys.includes(key)) change([...keys, key]);
        }}
      />
    </div>
  );
}

/** The labels of objects, by key, as far as they are known. */
function useLabels(url: string, keys: readonly string[]): Readonly<Record<string, string>> {
  const { client, loader, links } = usePage();
  const [labels, setLabels] = useState<Readonly<Record<string, string>>>({});
  const missing = keys.filter((key) => !Object.hasOwn(labels, key)).join(' ');
  useEffect(() => {
    const list = links.toLocal(url);
    if (missing === '' || list === undefined) return undefined;
    const controller = new AbortController();
    const related = new RelatedRows(list, { client, loader, links });
    const find = async (key: string): Promise<readonly [string, string]> => {
      const found = await related.findByKey(key, controller.signal).catch(() => undefined);
      return [key, found?.label ?? key];
    };
    void Promise.all(missing.split(' ').map(find)).then((found) => {
      if (!controller.signal.aborted) setLabels((before) => ({ ...before, ...Object.fromEntries(found) }));
    });
    return () => {
      controller.abort();
    };
  }, [url, missing]);
  return labels;
}
