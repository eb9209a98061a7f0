import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../errors/rest-error.js';
import type { ValueType } from '../../../model/value-type.js';

/** What an entity's property holds for a canonical value: what TypeORM itself would have put there. */
export function toProperty(value: Json, type: ValueType, metadata: ColumnMetadata): unknown {
  if (value === null) return null;
  const design = designType(metadata);
  switch (type.kind) {
    case 'datetime':
      return design === String ? value : new Date(String(value));
    case 'date':
      return design === Date ? localMidnight(String(value)) : value;
    case 'decimal':
      return design === Number ? Number(value) : value;
    case 'bigint':
      return design === Number ? Number(value) : design === BigInt ? BigInt(String(value)) : value;
    case 'binary':
      return Buffer.from(String(value), 'base64');
    default:
      return value;
  }
}

/** The canonical value of what an entity's property holds, or of what a transformer or a listener made of it. */
export function fromProperty(property: unknown, type: ValueType): unknown {
  if (property === null || property === undefined) return null;
  if (property instanceof Date) return fromDate(property, type);
  if (property instanceof Uint8Array) return Buffer.from(property).toString('base64');
  switch (type.kind) {
    case 'bigint':
    case 'decimal':
      return typeof property === 'object' ? property : decimalText(property, type);
    default:
      return typeof property === 'bigint' ? property.toString() : property;
  }
}

function decimalText(property: unknown, type: ValueType): string {
  const scale = type.kind === 'decimal' ? type.scale : undefined;
  return typeof property === 'number' && scale !== undefined ? property.toFixed(scale) : String(property);
}

function fromDate(date: Date, type: ValueType): string | null {
  if (Number.isNaN(date.getTime())) return null;
  if (type.kind === 'date') {
    const two = (value: number): string => String(value).padStart(2, '0');
    return `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  }
  const digits = type.kind === 'datetime' ? type.digits : 3;
  return `${date.toISOString().slice(0, -1).padEnd(20 + digits, '0')}Z`;
}

/** The type that the entity's class gives the property, where TypeScript has told. */
function designType(metadata: ColumnMetadata): unknown {
  if (typeof metadata.target !== 'function') return undefined;
  const owner = metadata.embeddedMetadata ? (metadata.embeddedMetadata.type as { prototype?: object }).prototype : (metadata.target.prototype as object);
  return owner ? Reflect.getMetadata('design:type', owner, metadata.propertyName) : undefined;
}

function localMidnight(text: string): Date {
  const [year, month, day] = text.split('-').map(Number);
  return new Date(year ?? 0, (month ?? 1) - 1, day ?? 1);
}
