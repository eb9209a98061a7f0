/** A decimal number without loss: `digits` divided by a power of ten. */
export interface Exact {
  readonly digits: bigint;
  readonly places: number;
}

/** Decimal places of an average (contract 26.4). */
const AVERAGE_PLACES = 6;

/** Undefined for a text that is no decimal number. */
export function exactOf(text: string): Exact | undefined {
  const [, sign, whole = '', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return sign === undefined
    ? undefined
    : { digits: BigInt(`${sign}${whole}${places}`), places: places.length };
}

export function addExact(one: Exact, other: Exact): Exact {
  const places = Math.max(one.places, other.places);
  return { digits: digitsAt(one, places) + digitsAt(other, places), places };
}

export function multiplyExact({ digits, places }: Exact, factor: number): Exact {
  return { digits: digits * BigInt(factor), places };
}

export function compareExact(one: Exact, other: Exact): number {
  const places = Math.max(one.places, other.places);
  const difference = digitsAt(one, places) - digitsAt(other, places);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** The text of a quotient with six places, rounded half away from zero. */
export function averageText(sum: Exact, count: number): string {
  const divisor = BigInt(count) * 10n ** BigInt(sum.places);
  const dividend = (sum.digits < 0n ? -sum.digits : sum.digits) * 10n ** BigInt(AVERAGE_PLACES);
  const rounded = dividend / divisor + (2n * (dividend % divisor) >= divisor ? 1n : 0n);
  return exactText({ digits: sum.digits < 0n ? -rounded : rounded, places: AVERAGE_PLACES });
}

export function exactText({ digits, places }: Exact): string {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
  const point = text.length - places;
  const sign = digits < 0n ? '-' : '';
  return places === 0 ? `${sign}${text}` : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
}

function digitsAt({ digits, places }: Exact, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - places);
}
