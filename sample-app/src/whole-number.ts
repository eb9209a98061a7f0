/**
 * Reads a positive integer from an environment variable.
 *
 * @throws Error with the name of the variable if the value is anything else.
 */
export function wholeNumber(variable: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${variable} is "${text}". It is a whole number from 1 upwards.`);
  return value;
}
