import type { EntityMetadata } from 'typeorm';
import type { EmbeddedMetadata } from 'typeorm/metadata/EmbeddedMetadata.js';
import type { ClassRulesReader, ValueRules } from '../../../core/schema/value-rules.js';

/** The validation rules by property path: those of the class of the entity, and of its embedded objects with `@ValidateNested`. */
export function describeRules(
  { target, embeddeds }: EntityMetadata,
  readRules: ClassRulesReader,
): ReadonlyMap<string, ValueRules> {
  return new Map(rulesByPath({ type: target, embeddeds, within: '' }, readRules));
}

interface ValidatedClass {
  readonly type: unknown;
  readonly embeddeds: readonly EmbeddedMetadata[];
  readonly within: string;
}

function rulesByPath(
  { type, embeddeds, within }: ValidatedClass,
  readRules: ClassRulesReader,
): readonly (readonly [string, ValueRules])[] {
  if (typeof type !== 'function') return [];
  const { values, nested } = readRules(type);
  return [
    ...[...values].map(([name, rules]) => [within + name, rules] as const),
    ...embeddeds
      .filter(({ propertyName }) => nested.has(propertyName))
      .flatMap((embedded) =>
        rulesByPath(
          {
            type: embedded.type,
            embeddeds: embedded.embeddeds,
            within: `${within}${embedded.propertyName}.`,
          },
          readRules,
        ),
      ),
  ];
}
