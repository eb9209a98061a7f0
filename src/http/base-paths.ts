/** The mounts of the application's routes: global prefix and version, if it has them. */
export class BasePaths {
  private readonly patterns: Pattern[] = [];

  /** Adds a mount such as `/api`, or an empty text for the root. A parameter such as `:tenant` matches any segment. */
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
    // Longest first: `/api` must not hide `/api/v2`.
    this.patterns.sort((a, b) => b.segments.length - a.segments.length);
  }

  /** All mounts, longest first. */
  get all(): readonly string[] {
    return this.patterns.map(({ text }) => text);
  }

  /** The mount for URLs that are built outside of a request. */
  first(): string {
    return this.patterns[0]?.text ?? '';
  }

  /** The mounts that match a path, with the segments of that path. */
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
  /** The mount itself, if it has no parameters. */
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
