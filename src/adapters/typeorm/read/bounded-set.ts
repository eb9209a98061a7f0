/** Names that are remembered: as many as there are ways to order a model, and all are asked again where somebody makes up more. */
const MAX_NAMES = 200;

/** A bounded set, for what may be forgotten. */
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
