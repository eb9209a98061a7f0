/** The local date and time of an instant, as its input writes it, with milliseconds where it has some. */
export function toLocalInput(instant: string): string {
  const date = new Date(instant);
  if (instant === '' || Number.isNaN(date.getTime())) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return local.endsWith('.000Z') ? local.slice(0, 19) : local.slice(0, 23);
}

/** The instant of a local date and time; empty for anything else. */
export function fromLocalInput(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
