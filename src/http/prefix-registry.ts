/** Which prefixes somebody boots: of two that boot at once the second finds the first. */
export class PrefixRegistry {
  private readonly claims: { readonly prefix: string; readonly owner: object }[] = [];

  /** Before anything of a prefix is awaited. */
  claim(prefix: string, owner: object): void {
    this.claims.push({ prefix, owner });
  }

  /** Prefixes that others have claimed. */
  conflictingPrefixes(owner: object): readonly string[] {
    return this.claims.filter((each) => each.owner !== owner).map(({ prefix }) => prefix);
  }
}
