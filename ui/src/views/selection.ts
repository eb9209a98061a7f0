import { useEffect, useState } from 'preact/hooks';
import type { RouteDescription } from '../../../src/core/contracts/route-description.js';

/** The rows of a list that are chosen, by the texts of their keys. */
export interface Selection {
  readonly chosen: readonly string[];
  choose(keys: readonly string[], isChosen: boolean): void;
  clear(): void;
}

/** Undefined where the caller may not change many objects at once. Another URL has another selection. */
export function useSelection(url: string, description: RouteDescription | undefined): Selection | undefined {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  useEffect(() => {
    setChosen([]);
  }, [url]);
  const mayChange = description?.bulk?.methods.some((method) => method !== 'POST') === true;
  if (!mayChange) return undefined;
  return {
    chosen,
    choose: (keys, isChosen) => {
      const others = chosen.filter((key) => !keys.includes(key));
      setChosen(isChosen ? [...others, ...keys] : others);
    },
    clear: () => {
      setChosen([]);
    },
  };
}
