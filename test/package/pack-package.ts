import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PackedPackage {
  /** The path of the `.tgz` file. */
  readonly tarball: string;
  /** What it contains: `dist/index.js`. */
  readonly files: readonly string[];
}

/** Packs the built package into a folder, without building it: a build takes `dist` away from other tests. */
export async function packPackage(folder: string): Promise<PackedPackage> {
  const { stdout } = await promisify(execFile)('npm', [
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  ]);
  const packed = JSON.parse(stdout) as unknown;
  const [entry] = (Array.isArray(packed) ? packed : Object.values(packed as object)) as readonly {
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  if (!entry) throw new Error('npm packed nothing');
  return { tarball: join(folder, entry.filename), files: entry.files.map(({ path }) => path) };
}
