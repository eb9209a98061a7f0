/** More than the usual number of orders of a model. */
const MAX_NAMES = 200;

/** A set of names with a bounded size: it is cleared when it is full. */
export class BoundedSet {
  private readonly names = new Set<string>();

  has(name: string): boolean {
    return this.names.has(name);
  }

  add(name: string): void {
    if (this.names.size >= MAX_NAMES) this.names.clear();
    this.names.add(name);
  }
}
