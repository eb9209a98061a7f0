/** Where the application's routes stand: below its global prefix and version, if it has them. */
export class BasePaths {
  private readonly patterns: Pattern[] = [];

  /** `/api`, or an empty text for the root. A segment such as `:tenant` stands for any. */
  add(mount: string): void {
    if (this.patterns.some((each) => each.text === mount)) return;
    const segments = mount.split('/').filter((segment) => segment !== '');
    this.patterns.push({
      text: mount,
      segments,
      plain: segments.some((segment) => segment.startsWith(':'))
        ? undefined
        : segments.map((segment) => `/${segment}`).join(''),
    });
    // The longest first: `/api` must not hide `/api/v2`.
    this.patterns.sort((a, b) => b.segments.length - a.segments.length);
  }

  /** All of them, the longest first. */
  get all(): readonly string[] {
    return this.patterns.map(({ text }) => text);
  }

  /** Where URLs stand that no request asks for. */
  first(): string {
    return this.patterns[0]?.text ?? '';
  }

  /** The mounts that a path can stand below, as they are in that path. */
  candidates(path: string): readonly string[] {
    const found: string[] = [];
    for (const pattern of this.patterns) {
      const mount =
        pattern.plain === undefined
          ? filledIn(pattern, path)
          : isBelow(path, pattern.plain)
            ? pattern.plain
            : undefined;
      if (mount !== undefined) found.push(mount);
    }
    return found;
  }
}

interface Pattern {
  readonly text: string;
  readonly segments: readonly string[];
  /** Where all of its segments stand for themselves. */
  readonly plain: string | undefined;
}

function isBelow(path: string, mount: string): boolean {
  return (
    path.startsWith(mount) && (path.length === mount.length || path[mount.length] === '/' || mount === '')
  );
}

function filledIn(pattern: Pattern, path: string): string | undefined {
  const segments = path.split('/').slice(1);
  const fits = pattern.segments.every(
    (segment, index) =>
      (segment.startsWith(':') && (segments[index] ?? '') !== '') || segment === segments[index],
  );
  return fits
    ? segments
        .slice(0, pattern.segments.length)
        .map((segment) => `/${segment}`)
        .join('')
    : undefined;
}
