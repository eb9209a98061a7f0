/** The parameters of a query string, in order. */
export class Parameters {
  readonly entries: readonly (readonly [string, string])[];

  constructor(query: string) {
    this.entries = [...new URLSearchParams(query)];
  }

  get names(): string[] {
    return [...new Set(this.entries.map(([name]) => name))];
  }

  /** The last value of a repeated parameter. */
  last(name: string): string | undefined {
    return this.entries.findLast(([each]) => each === name)?.[1];
  }

  /** The concatenated values of a list parameter; `name[]` is `name`. */
  listed(name: string): string | undefined {
    const values = this.entries
      .filter(([each]) => each === name || each === `${name}[]`)
      .map(([, value]) => value)
      .filter((value) => value !== '');
    return values.length > 0 ? values.join(',') : undefined;
  }
}
