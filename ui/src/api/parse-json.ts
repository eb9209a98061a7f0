interface JsonSource {
  readonly source?: string;
}

/** `JSON.rawJSON`, where the browser has it. */
const rawJson = (JSON as { readonly rawJSON?: (text: string) => unknown }).rawJSON?.bind(JSON);

/** Parses JSON and keeps the digits of numbers beyond the precision of JavaScript, where the browser can. */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (...[, value, context]: readonly [string, unknown, JsonSource?]) => {
    const source = context?.source;
    if (typeof value !== 'number' || source === undefined || !rawJson) return value;
    return isExact(value, source) ? value : rawJson(source);
  });
}

/** Whether a number has all digits of its source. Zeros at the end and exponents are other spellings of the same number. */
function isExact(value: number, source: string): boolean {
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');
  if (digits.length <= 15) return true;
  return (
    String(value)
      .replace(/[eE].*$/, '')
      .replace(/[-.]/g, '')
      .replace(/^0+/, '')
      .replace(/0+$/, '') === digits
  );
}
