/** The parameters of a query string, in order. */
export class Parameters {
  readonly entries: readonly (readonly [string, string])[];

  constructor(query: string) {
    this.entries = [...new URLSearchParams(query)];
  }

  /** Those of an expanded list, by their names there. */
  within(path: string): Parameters {
    const own = this.entries
      .filter(([name]) => name.startsWith(path) && !name.slice(path.length).includes('.'))
      .map(([name, value]): [string, string] => [name.slice(path.length), value]);
    return new Parameters(new URLSearchParams(own).toString());
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
