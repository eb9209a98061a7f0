/** A whole number from 1 upwards that a variable of the environment holds. Refuses anything else by the variable's name. */
export function wholeNumber(variable: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${variable} is "${text}". It is a whole number from 1 upwards.`);
  return value;
}
