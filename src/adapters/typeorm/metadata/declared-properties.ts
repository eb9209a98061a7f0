import { getMetadataArgsStorage } from 'typeorm';

/** A property as a class or an `EntitySchema` declares it. */
interface DeclaredProperty {
  /** The class, or the name of a schema that has none. */
  readonly target: unknown;
  readonly propertyName: string;
}

interface DeclaredColumn extends DeclaredProperty {
  readonly options: { readonly nullable?: boolean; readonly default?: unknown };
}

/** What decorators have recorded, and what the schemas of a data source say. */
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

/** `given`: what the data source was given as entities. */
export function declaredProperties(given: readonly unknown[]): DeclaredProperties {
  const { columns, relations, embeddeds } = getMetadataArgsStorage();
  const all: DeclaredProperties[] = [
    { columns, relations, embeddeds },
    ...given.flatMap((each) => (isSchema(each) ? ofSchema(each.options) : [])),
  ];
  return {
    columns: all.flatMap((each) => each.columns),
    relations: all.flatMap((each) => each.relations),
    embeddeds: all.flatMap((each) => each.embeddeds),
  };
}

/** The class that a schema maps, or else its name: what TypeORM knows its entity by. */
export function schemaTarget({ target, name }: SchemaOptions): unknown {
  return target ?? name;
}

export function isSchema(each: unknown): each is { readonly options: SchemaOptions } {
  return (
    typeof each === 'object' &&
    each !== null &&
    typeof (each as { options?: unknown }).options === 'object' &&
    (each as { options?: unknown }).options !== null
  );
}

/** With the columns of its embedded objects, which have targets of their own. */
function ofSchema(options: SchemaOptions): readonly DeclaredProperties[] {
  const target = schemaTarget(options);
  const named = (properties: object = {}): readonly DeclaredProperty[] =>
    Object.keys(properties).map((propertyName) => ({ target, propertyName }));
  const { columns = {}, relations, embeddeds = {} } = options;
  return [
    {
      columns: Object.entries(columns).map(([propertyName, said = {}]) => ({
        target,
        propertyName,
        options: said,
      })),
      relations: named(relations),
      embeddeds: named(embeddeds),
    },
    ...Object.values(embeddeds).flatMap(({ schema }) => (schema ? ofSchema(schema.options) : [])),
  ];
}
