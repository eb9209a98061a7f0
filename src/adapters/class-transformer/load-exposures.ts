import { isMissingPackage } from '../../core/errors/missing-package.js';
import type { ReadExposures, ExposedClass } from '../../core/schema/entity-metadata.js';
import { probeClass } from './probe-class.js';
import type { ClassTransformer, TransformOptions } from './probe-class.js';

/** The exports of class-transformer: version 0.4 has other names for the same functions. */
interface Library extends Decorators {
  readonly plainToClassFromExist: (target: object, plain: object, options: TransformOptions) => object;
  readonly instanceToPlain?: (object: object, options: TransformOptions) => object;
  readonly classToPlain?: (object: object, options: TransformOptions) => object;
}

/** Loads the reader of the application's class-transformer decorators; undefined if the package is not installed. */
export async function loadExposures(): Promise<ReadExposures | undefined> {
  const library = await importClassTransformer();
  const toPlain = library?.instanceToPlain ?? library?.classToPlain;
  if (!library || !toPlain) return undefined;
  const transformer: ClassTransformer = { toPlain, toInstance: library.plainToClassFromExist };
  const isDecorated = await loadDecoratedClasses(library);
  return (type, samples) =>
    isDecorated(type, [...samples.keys()]) ? probeClass(type, samples, transformer) : NOTHING_EXCLUDED;
}

const NOTHING_EXCLUDED: ReturnType<ReadExposures> = new Map();

async function importClassTransformer(): Promise<Library | undefined> {
  try {
    return await import('class-transformer');
  } catch (error) {
    if (isMissingPackage(error)) return undefined;
    throw error;
  }
}

/** The decorators of class-transformer. */
interface Decorators {
  readonly Exclude: () => PropertyDecorator & ClassDecorator;
  readonly Expose: () => PropertyDecorator & ClassDecorator;
  readonly Transform: (transform: () => unknown) => PropertyDecorator;
  readonly Type: (type: () => typeof String) => PropertyDecorator;
}

/** What class-transformer has recorded of decorators, as it reads it itself. No documented export, so it may be missing. */
interface MetadataStorage {
  getStrategy(type: ExposedClass): string;
  getExposedMetadatas(type: ExposedClass): readonly unknown[];
  getExcludedMetadatas(type: ExposedClass): readonly unknown[];
  findTypeMetadata(type: ExposedClass, name: string): unknown;
  findTransformMetadatas(type: ExposedClass, name: string, direction: number): readonly unknown[];
}

/** To instances, and to plain objects. */
const DIRECTIONS = [0, 1] as const;

type IsDecorated = (type: ExposedClass, names: readonly string[]) => boolean;

/**
 * Finds the classes that need no probes, because class-transformer treats all of these properties as they are. Probing each of
 * hundreds of classes without decorators would take a tenth of the start. Without the records every class is probed.
 */
export async function loadDecoratedClasses(decorators: Decorators): Promise<IsDecorated> {
  const storage = await importStorage();
  const isKnown = storage !== undefined && isStorageOf(decorators, storage);
  return (type, names) => !isKnown || isDecorated(type, { names, storage });
}

async function importStorage(): Promise<MetadataStorage | undefined> {
  try {
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-assertion -- the file has no types
    const { defaultMetadataStorage } = (await import('class-transformer/cjs/storage.js' as string)) as {
      readonly defaultMetadataStorage?: MetadataStorage;
    };
    return defaultMetadataStorage;
  } catch {
    return undefined;
  }
}

function isDecorated(
  type: ExposedClass,
  { names, storage }: { readonly names: readonly string[]; readonly storage: MetadataStorage },
): boolean {
  // class-transformer leaves out accessors and methods of the class.
  const prototype = type.prototype as object;
  return (
    storage.getStrategy(type) !== 'none' ||
    storage.getExposedMetadatas(type).length > 0 ||
    storage.getExcludedMetadatas(type).length > 0 ||
    names.some(
      (name) =>
        name in prototype ||
        storage.findTypeMetadata(type, name) !== undefined ||
        DIRECTIONS.some((direction) => storage.findTransformMetadatas(type, name, direction).length > 0),
    )
  );
}

/**
 * Whether the decorators record in this storage: a bundler or a second copy of the package has several. Decorates classes of its
 * own, each in one of the ways that are to be recognized.
 */
function isStorageOf({ Exclude, Expose, Transform, Type }: Decorators, storage: MetadataStorage): boolean {
  try {
    const asProperty = [Exclude(), Expose(), Transform(() => undefined), Type(() => String)];
    const decorated = asProperty.map((decorate) => {
      class Base {
        name: string;
      }
      decorate(Base.prototype, 'name');
      return class extends Base {};
    });
    class Excluded {
      name: string;
    }
    class Plain {
      name: string;
    }
    Exclude()(Excluded);
    const names = ['name'];
    return (
      [...decorated, Excluded].every((type) => isDecorated(type, { names, storage })) &&
      !isDecorated(Plain, { names, storage })
    );
  } catch {
    return false;
  }
}
