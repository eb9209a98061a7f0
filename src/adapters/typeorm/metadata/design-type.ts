import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';

/** The TypeScript type of a property, if `emitDecoratorMetadata` has recorded it. */
export function designType(metadata: ColumnMetadata): unknown {
  if (typeof metadata.target !== 'function') return undefined;
  const owner = metadata.embeddedMetadata
    ? (metadata.embeddedMetadata.type as { prototype?: object }).prototype
    : (metadata.target.prototype as object);
  return owner ? Reflect.getMetadata('design:type', owner, metadata.propertyName) : undefined;
}
