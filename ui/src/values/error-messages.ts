/** The messages of an error body, with the names of their fields. */
export function messagesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(messagesOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(fieldsOf(value)).flatMap(([name, inner]) => {
    const messages = messagesOf(inner);
    const isGeneral = name === 'detail' || name === 'non_field_errors';
    return isGeneral ? messages : messages.map((message) => `${name}: ${message}`);
  });
}

/** The messages of an error body by field, which RFC 9457 has in a member. */
export function fieldsOf(value: object): object {
  const { title, errors, detail } = value as Readonly<Record<string, unknown>>;
  if (typeof title !== 'string') return value;
  return typeof errors === 'object' && errors !== null && !Array.isArray(errors)
    ? errors
    : { detail: detail ?? title };
}
