/** Where the application's routes stand: below its global prefix and version, if it has them. */
export class Mounts {
  private readonly patterns: { readonly text: string; readonly segments: readonly string[] }[] = [];

  /** `/api`, or an empty text for the root. A segment such as `:tenant` stands for any. */
  add(mount: string): void {
    if (this.patterns.some((each) => each.text === mount)) return;
    this.patterns.push({ text: mount, segments: mount.split('/').filter((segment) => segment !== '') });
    // The longest first: `/api` must not hide `/api/v2`.
    this.patterns.sort((a, b) => b.segments.length - a.segments.length);
  }

  /** Where URLs stand that no request asks for. */
  first(): string {
    return this.patterns[0]?.text ?? '';
  }

  /** The mounts that a path can stand below, as they are in that path. */
  candidates(path: string): readonly string[] {
    const segments = path.split('/').slice(1);
    return this.patterns.flatMap((pattern) => {
      const fits = pattern.segments.every((segment, index) => (segment.startsWith(':') && (segments[index] ?? '') !== '') || segment === segments[index]);
      return fits ? [segments.slice(0, pattern.segments.length).map((segment) => `/${segment}`).join('')] : [];
    });
  }
}
