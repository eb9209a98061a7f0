import { isMissingPackage } from '../../core/errors/missing-package.js';
import type { ReadExposures } from '../../core/schema/exposure.js';
import { probeClass } from './probe-class.js';
import type { ClassTransformer, TransformOptions } from './probe-class.js';

/** The exports of class-transformer: version 0.4 has other names for the same functions. */
interface Library {
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
  return (type, samples) => probeClass(type, samples, transformer);
}

async function importClassTransformer(): Promise<Library | undefined> {
  try {
    return await import('class-transformer');
  } catch (error) {
    if (isMissingPackage(error)) return undefined;
    throw error;
  }
}
