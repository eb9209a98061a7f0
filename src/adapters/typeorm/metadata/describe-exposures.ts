import type { DataSource, EntityMetadata } from 'typeorm';
import type { EmbeddedMetadata } from 'typeorm/metadata/EmbeddedMetadata.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { ReadExposures, ExposedClass, Exposure } from '../../../core/schema/exposure.js';
import type { DataKind, DataType } from '../../../core/schema/data-type.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { toProperty } from '../write/property-values.js';
import { dataTypeOf } from './value-type-of.js';

/** The properties that a class declares: an entity's, or an embedded object's. */
interface Declared {
  readonly columns: readonly ColumnMetadata[];
  readonly relations: readonly RelationMetadata[];
  readonly embeddeds: readonly EmbeddedMetadata[];
}

interface Source {
  readonly dataSource: DataSource;
  readonly ask: ReadExposures;
}

/** What decorators of class-transformer say, by the path of the property: those of the entity's class, and of its embedded objects' classes. */
export function describeExposures(
  metadata: EntityMetadata,
  dataSource: DataSource,
  ask: ReadExposures,
): ReadonlyMap<string, Exposure> {
  const own: Declared = {
    columns: metadata.columns.filter((column) => !column.embeddedMetadata && !column.isVirtual),
    relations: metadata.relations.filter((relation) => !relation.embeddedMetadata),
    embeddeds: metadata.embeddeds,
  };
  return new Map(exposuresOf({ type: metadata.target, within: '' }, own, { dataSource, ask }));
}

function exposuresOf(
  { type, within }: { readonly type: unknown; readonly within: string },
  declared: Declared,
  source: Source,
): readonly (readonly [string, Exposure])[] {
  const found = isClass(type)
    ? source.ask(type, samplesOf(declared, source.dataSource))
    : new Map<string, Exposure>();
  return [
    ...[...found].map(([name, exposure]) => [within + name, exposure] as const),
    ...declared.embeddeds.flatMap((embedded) =>
      exposuresOf({ type: embedded.type, within: `${within}${embedded.propertyName}.` }, embedded, source),
    ),
  ];
}

/** A schema may say a name, and an embedded object of one has no class. */
function isClass(type: unknown): type is ExposedClass {
  return typeof type === 'function';
}

/** Values that the properties could hold: each is passed through what an application has written for them. */
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
    // Of which kind a transformer's values are is not known here.
    const others = column.transformer ? [[], {}, 7] : [];
    samples.set(column.propertyName, [...own, ...others, null]);
  }
  return samples;
}

/** In canonical form, of each kind of value: a text has a blank at each end, upper case and lower case. */
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
