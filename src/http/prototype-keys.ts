/**
 * Whether parsed JSON has a key `__proto__`, or a `constructor` with a `prototype`, at any depth: code that copies such an
 * object may replace a prototype. Iterative, so that a deep body cannot overflow the stack.
 */
export function hasPrototypeKeys(value: unknown): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const each = pending.pop();
    if (typeof each !== 'object' || each === null || ArrayBuffer.isView(each) || seen.has(each)) continue;
    if (Object.hasOwn(each, '__proto__') || hasPrototype(each)) return true;
    seen.add(each);
    for (const inner of Object.values(each)) if (typeof inner === 'object') pending.push(inner);
  }
  return false;
}

function hasPrototype(each: object): boolean {
  const own = Object.hasOwn(each, 'constructor') ? each.constructor : undefined;
  return typeof own === 'object' && (own as object | null) !== null && Object.hasOwn(own, 'prototype');
}
