export interface TaggedSpec {
  readonly path: string;
  readonly text: string;
  readonly tags: readonly string[];
}
export function taggedSpecs(): readonly TaggedSpec[];
