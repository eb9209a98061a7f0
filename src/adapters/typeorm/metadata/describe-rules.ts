import type { EntityMetadata } from 'typeorm';
import type { EmbeddedMetadata } from 'typeorm/metadata/EmbeddedMetadata.js';
import type { ReadRules, ValueRules } from '../../../core/schema/value-rules.js';

/** What validators say of the properties of an entity, by path: those of its class, and of embedded objects that are validated too. */
export function describeRules(
  { target, embeddeds }: EntityMetadata,
  ask: ReadRules,
): ReadonlyMap<string, ValueRules> {
  return new Map(rulesOf({ type: target, embeddeds, within: '' }, ask));
}

interface Described {
  readonly type: unknown;
  readonly embeddeds: readonly EmbeddedMetadata[];
  readonly within: string;
}

function rulesOf(
  { type, embeddeds, within }: Described,
  ask: ReadRules,
): readonly (readonly [string, ValueRules])[] {
  if (typeof type !== 'function') return [];
  const { values, nested } = ask(type);
  return [
    ...[...values].map(([name, rules]) => [within + name, rules] as const),
    ...embeddeds
      .filter(({ propertyName }) => nested.has(propertyName))
      .flatMap((embedded) =>
        rulesOf(
          {
            type: embedded.type,
            embeddeds: embedded.embeddeds,
            within: `${within}${embedded.propertyName}.`,
          },
          ask,
        ),
      ),
  ];
}
