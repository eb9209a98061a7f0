import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The name of an installed package with its version, such as `mysql2 3.24.6`, for messages: the name alone if it is not found.
 * `through`: a package that brings it along, if the application need not name it itself.
 */
export function describePackage(name: string, through?: string): string {
  try {
    const application = createRequire(join(process.cwd(), 'package.json'));
    const from = through === undefined ? application : createRequire(application.resolve(through));
    return `${name} ${readVersion(name, dirname(from.resolve(name)))}`;
  } catch {
    return name;
  }
}

/** Reads the file itself, because not every package exports its `package.json`. @throws Error if there is none above the directory. */
function readVersion(name: string, directory: string): string {
  if (dirname(directory) === directory) throw new Error(`No package.json of ${name}`);
  const path = join(directory, 'package.json');
  const found = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as PackageJson) : {};
  return found.name === name && found.version !== undefined
    ? found.version
    : readVersion(name, dirname(directory));
}

interface PackageJson {
  readonly name?: string;
  readonly version?: string;
}
