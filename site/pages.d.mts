/** A page of the navigation. */
export interface Page {
  readonly text: string;
  readonly path: string;
  readonly about: string;
}

export const EVERYDAY: Readonly<Record<string, number>>;
export const EVERYDAY_WORDS: number;
export function countWords(text: string): number;
export function navigationOf(readme: string): {
  readonly title: string;
  readonly about: string;
  readonly groups: readonly { readonly text: string; readonly items: readonly Page[] }[];
};
