/** DRF's message for a text that no database column can hold; undefined for any other text. */
export function unstorableText(text: string): string | undefined {
  if (text.includes('\u0000')) return 'Null characters are not allowed.';
  if (!text.isWellFormed()) return `Surrogate characters are not allowed: U+${loneSurrogate(text)}.`;
  return undefined;
}

function loneSurrogate(text: string): string {
  const lone = Array.from(text).find((letter) => letter.length === 1 && !letter.isWellFormed());
  return (lone ?? '').charCodeAt(0).toString(16).toUpperCase();
}

/** Length in code points (contract 5.7). */
export function codePoints(text: string): number {
  return Array.from(text).length;
}

/** The Python type name of a JSON value, as used in DRF's messages. */
export function pythonTypeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    default:
      return 'dict';
  }
}
