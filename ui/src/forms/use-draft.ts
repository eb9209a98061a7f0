import { useMemo, useState } from 'preact/hooks';
import type { Draft } from './draft.js';
import { DraftStore } from './draft-store.js';

/** What was typed into a form, kept for the tab. @param form the method and the path. */
export function useDraft(form: string): readonly [Draft, (draft: Draft) => void] {
  const store = useMemo(() => new DraftStore(form), [form]);
  const [draft, setDraft] = useState<Draft>(() => store.read());
  return [
    draft,
    (next) => {
      store.write(next);
      setDraft(next);
    },
  ];
}
