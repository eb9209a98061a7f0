/** Paths that the application serves itself, by the patterns of its routes. */
export class ApplicationRoutes {
  private readonly patterns: (readonly string[])[] = [];

  add(pattern: string): void {
    this.patterns.push(splitPath(pattern));
  }

  has(path: string): boolean {
    const segments = splitPath(path);
    return this.patterns.some((pattern) => {
      const rest = pattern.findIndex((segment) => segment.startsWith('*'));
      if (rest < 0 && pattern.length !== segments.length) return false;
      return pattern.every(
        (segment, index) =>
          (rest >= 0 && index >= rest) || segment.startsWith(':') || segment === segments[index],
      );
    });
  }
}

function splitPath(path: string): readonly string[] {
  return (path.endsWith('/') ? path.slice(0, -1) : path).split('/').slice(1);
}
