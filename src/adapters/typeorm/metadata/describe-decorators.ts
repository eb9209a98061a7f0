import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { EmbeddedMetadata } from 'typeorm/metadata/EmbeddedMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { DataKind, DataType } from '../../../core/schema/data-type.js';
import type { ReadExposures, ExposedClass, Exposure } from '../../../core/schema/entity-metadata.js';
import type { ClassRulesReader, ValueRules } from '../../../core/schema/value-rules.js';
import { toProperty } from '../write/property-values.js';
import { dataTypeOf } from './column-data-type.js';

/** The properties of the class of an entity or of an embedded object. */
interface Declared {
  readonly columns: readonly ColumnMetadata[];
  readonly relations: readonly RelationMetadata[];
  readonly embeddeds: readonly EmbeddedMetadata[];
}

interface Source {
  readonly dataSource: DataSource;
  readonly readExposures: ReadExposures;
}

/** The exposure by decorators of class-transformer, by property path: in the class of the entity and of its embedded objects. */
export function describeExposures(
  metadata: EntityMetadata,
  dataSource: DataSource,
  readExposures: ReadExposures,
): ReadonlyMap<string, Exposure> {
  const own: Declared = {
    columns: metadata.columns.filter((column) => !column.embeddedMetadata && !column.isVirtual),
    relations: metadata.relations.filter((relation) => !relation.embeddedMetadata),
    embeddeds: metadata.embeddeds,
  };
  return new Map(exposuresOf({ type: metadata.target, within: '' }, own, { dataSource, readExposures }));
}

function exposuresOf(
  { type, within }: { readonly type: unknown; readonly within: string },
  declared: Declared,
  source: Source,
): readonly (readonly [string, Exposure])[] {
  // A schema may have a name only, as its embedded objects.
  const exposures =
    typeof type === 'function'
      ? source.readExposures(type as ExposedClass, samplesOf(declared, source.dataSource))
      : new Map<string, Exposure>();
  return [
    ...[...exposures].map(([name, exposure]) => [within + name, exposure] as const),
    ...declared.embeddeds.flatMap((embedded) =>
      exposuresOf({ type: embedded.type, within: `${within}${embedded.propertyName}.` }, embedded, source),
    ),
  ];
}

/** Sample values for each property, to which the application's transformations are applied. */
function samplesOf(
  { columns, relations, embeddeds }: Declared,
  dataSource: DataSource,
): ReadonlyMap<string, readonly unknown[]> {
  const samples = new Map<string, readonly unknown[]>();
  for (const { propertyName } of embeddeds) samples.set(propertyName, [{}, null]);
  for (const { propertyName, isOneToMany, isManyToMany } of relations)
    samples.set(propertyName, [isOneToMany || isManyToMany ? [] : {}, null]);
  for (const column of columns) {
    const described = dataTypeOf(column, dataSource);
    const own = 'type' in described ? [sampleOf(described.type, column)] : [];
    // The type of the values that a transformer returns is not known here.
    const others = column.transformer ? [[], {}, 7] : [];
    samples.set(column.propertyName, [...own, ...others, null]);
  }
  return samples;
}

/** A canonical value of each kind. The text has blanks at both ends, upper and lower case, so that transformations of it are noticed. */
const SAMPLES: Readonly<Record<DataKind, Json>> = {
  integer: 7,
  bigint: '7',
  decimal: '1.25',
  float: 1.25,
  boolean: true,
  string: ' Sample ',
  date: '2022-10-02',
  time: '09:23:28',
  datetime: '2022-10-02T09:23:28.297Z',
  interval: 'P1DT2H',
  uuid: '6f1f1d3c-3c5a-4a0c-9a63-7f5f0f8f2c11',
  enum: 'Sample',
  set: ['Sample'],
  json: { Sample: [1] },
  list: [],
  binary: 'U2FtcGxl',
};

function sampleOf(type: DataType, column: ColumnMetadata): unknown {
  if (type.kind === 'enum') return type.values[0] ?? null;
  return type.kind === 'list' ? [' Sample '] : toProperty(SAMPLES[type.kind], type, column);
}

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
