import { getMetadataArgsStorage } from 'typeorm';
import type { DataSource } from 'typeorm';

/** A property declared by a class or an `EntitySchema`. */
interface DeclaredProperty {
  /** The class, or the name of a schema without a class. */
  readonly target: unknown;
  readonly propertyName: string;
}

interface DeclaredColumn extends DeclaredProperty {
  readonly options: { readonly nullable?: boolean; readonly default?: unknown };
}

/** The properties declared by decorators and by the schemas of a data source. */
export interface DeclaredProperties {
  readonly columns: readonly DeclaredColumn[];
  readonly relations: readonly DeclaredProperty[];
  readonly embeddeds: readonly DeclaredProperty[];
}

interface SchemaOptions {
  readonly name?: string;
  readonly target?: unknown;
  readonly columns?: Readonly<Record<string, DeclaredColumn['options'] | undefined>>;
  readonly relations?: object;
  readonly embeddeds?: Readonly<Record<string, { readonly schema?: { readonly options: SchemaOptions } }>>;
}

/** The classes and schemas in the option `entities`, without file patterns. */
export function givenEntities(dataSource: DataSource): readonly unknown[] {
  const given = dataSource.options.entities ?? [];
  const values: readonly unknown[] = Array.isArray(given) ? given : Object.values(given);
  return values.filter((each) => typeof each !== 'string');
}

/** `given` has the classes and schemas in the option `entities`. */
export function declaredProperties(given: readonly unknown[]): DeclaredProperties {
  const { columns, relations, embeddeds } = getMetadataArgsStorage();
  const all: DeclaredProperties[] = [
    { columns, relations, embeddeds },
    ...given.flatMap((each) => (isEntitySchema(each) ? propertiesOfSchema(each.options) : [])),
  ];
  return {
    columns: all.flatMap((each) => each.columns),
    relations: all.flatMap((each) => each.relations),
    embeddeds: all.flatMap((each) => each.embeddeds),
  };
}

/** The target by which TypeORM identifies the entity of a schema: its class, or else its name. */
export function schemaTarget({ target, name }: SchemaOptions): unknown {
  return target ?? name;
}

export function isEntitySchema(each: unknown): each is { readonly options: SchemaOptions } {
  return (
    typeof each === 'object' &&
    each !== null &&
    typeof (each as { options?: unknown }).options === 'object' &&
    (each as { options?: unknown }).options !== null
  );
}

/** The properties of a schema, and those of its embedded schemas, which have other targets. */
function propertiesOfSchema(options: SchemaOptions): readonly DeclaredProperties[] {
  const target = schemaTarget(options);
  const named = (properties: object = {}): readonly DeclaredProperty[] =>
    Object.keys(properties).map((propertyName) => ({ target, propertyName }));
  const { columns = {}, relations, embeddeds = {} } = options;
  return [
    {
      columns: Object.entries(columns).map(([propertyName, column = {}]) => ({
        target,
        propertyName,
        options: column,
      })),
      relations: named(relations),
      embeddeds: named(embeddeds),
    },
    ...Object.values(embeddeds).flatMap(({ schema }) => (schema ? propertiesOfSchema(schema.options) : [])),
  ];
}
