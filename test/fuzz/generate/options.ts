import type { EntitySpec, OptionsSpec, SchemaSpec } from '../schema.js';
import type { Random } from './random.js';

/** Options of an entity, and of its plain junctions. */
export function optionsFor(
  _random: Random,
  _entity: EntitySpec,
  _schema: SchemaSpec,
): { readonly options: OptionsSpec; readonly through: Readonly<Record<string, OptionsSpec>> } {
  return { options: {}, through: {} };
}
