/** The prefixes of the process that are booting or running, so that the second of two equal prefixes is detected. */
export class PrefixRegistry {
  private readonly claims: { readonly prefix: string; readonly owner: object }[] = [];

  /** Call it before the first `await` of a prefix's boot. */
  claim(prefix: string, owner: object): void {
    this.claims.push({ prefix, owner });
  }

  /** The prefixes that other owners have claimed too. */
  conflictingPrefixes(owner: object): readonly string[] {
    return this.claims.filter((each) => each.owner !== owner).map(({ prefix }) => prefix);
  }
}
