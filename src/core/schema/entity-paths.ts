/** The target of a relation, without TypeORM's wrapper types. */
export type Unwrapped<Value> =
  NonNullable<Value> extends Promise<infer Inner>
    ? Unwrapped<Inner>
    : NonNullable<Value> extends readonly (infer Item)[]
      ? NonNullable<Item>
      : NonNullable<Value>;

type Leaf = string | number | boolean | bigint | symbol | Date | Uint8Array | ((...args: never[]) => unknown);

/** The properties that are not methods. */
export type PropertyOf<Entity> = {
  [Name in keyof Entity & string]: NonNullable<Entity[Name]> extends (...args: never[]) => unknown
    ? never
    : Name;
}[keyof Entity & string];

/**
 * A property, or a dotted path over relations and embedded objects of at most three steps: `question.pub_date`. Any path begins with a
 * property whose type has no known members, such as `object`.
 */
export type PathOf<Entity, Depth extends readonly unknown[] = [1, 1]> = {
  [Name in PropertyOf<Entity>]:
    | Name
    | (Unwrapped<Entity[Name]> extends Leaf
        ? never
        : [keyof Unwrapped<Entity[Name]>] extends [never]
          ? `${Name}.${string}`
          : Depth extends readonly [unknown, ...infer Rest]
            ? `${Name}.${PathOf<Unwrapped<Entity[Name]>, Rest>}`
            : never);
}[PropertyOf<Entity>];
