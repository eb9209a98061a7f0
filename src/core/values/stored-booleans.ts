/** The boolean of a number, and of the byte in which the driver of MySQL returns a BIT(1); undefined for other values. */
export function storedBoolean(raw: unknown): boolean | undefined {
  if (typeof raw === 'number') return raw !== 0;
  const byte = raw instanceof Uint8Array && raw.length === 1 ? raw[0] : undefined;
  return byte === 0 || byte === 1 ? byte === 1 : undefined;
}
