/** The mounts of the application's routes: the paths of its global prefix and version, if it has them. */
export class MountPaths {
  private readonly patterns: MountPattern[] = [];

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

  /** The mounts that match a path, with the segments of that path, longest first. */
  findMounts(path: string): readonly string[] {
    const found: string[] = [];
    for (const pattern of this.patterns) {
      const mount = matchMount(pattern, path);
      if (mount !== undefined) found.push(mount);
    }
    return found;
  }
}

interface MountPattern {
  readonly text: string;
  readonly segments: readonly string[];
  /** The mount itself if it has no parameters, else undefined. */
  readonly plain: string | undefined;
}

/** The mount that a path is below; undefined if the pattern does not match. */
function matchMount(pattern: MountPattern, path: string): string | undefined {
  const { plain } = pattern;
  if (plain === undefined) return fillParameters(pattern, path);
  return isBelow(path, plain) ? plain : undefined;
}

function isBelow(path: string, mount: string): boolean {
  return (
    path.startsWith(mount) && (path.length === mount.length || path[mount.length] === '/' || mount === '')
  );
}

function fillParameters({ segments }: MountPattern, path: string): string | undefined {
  const given = path.split('/').slice(1);
  const matches = segments.every(
    (segment, index) => (segment.startsWith(':') && (given[index] ?? '') !== '') || segment === given[index],
  );
  if (!matches) return undefined;
  return given
    .slice(0, segments.length)
    .map((segment) => `/${segment}`)
    .join('');
}
