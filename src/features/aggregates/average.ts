/** Digits of an average behind the point. */
const DIGITS = 6;

/** The text of a decimal divided by a number of values: six digits, half away from zero. What is no decimal is returned as it is. */
export function averageOf(sum: string, count: number): string {
  const [, sign, whole = '', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(sum) ?? [];
  if (sign === undefined) return sum;
  const divisor = BigInt(count) * 10n ** BigInt(places.length);
  const doubled = BigInt(whole + places) * 10n ** BigInt(DIGITS) * 2n;
  const digits = String((doubled + divisor) / (divisor * 2n)).padStart(DIGITS + 1, '0');
  const isZero = /^0+$/.test(digits);
  return `${isZero ? '' : sign}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}
