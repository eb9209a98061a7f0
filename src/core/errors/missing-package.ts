/** Whether an `import()` has failed because the package is not installed: optional peer dependencies may be missing. */
export function isMissingPackage(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
}
