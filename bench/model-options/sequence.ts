import type { VariantName } from './variants.js';

/** Equal runs of the plain model: their spread shows which differences are noise. */
export const PLAIN_RUNS = 5;

/** The chosen variants, with the runs of the plain model spread evenly between them. */
export function sequence(names: readonly VariantName[]): VariantName[] {
  const others = names.filter((name) => name !== 'plain');
  const every = Math.max(1, Math.ceil(others.length / (PLAIN_RUNS - 1)));
  const mixed = others.flatMap((name, at): VariantName[] => (at % every === 0 ? ['plain', name] : [name]));
  const missing = PLAIN_RUNS - mixed.filter((name) => name === 'plain').length;
  return [...mixed, ...Array.from({ length: missing }, (): VariantName => 'plain')];
}
