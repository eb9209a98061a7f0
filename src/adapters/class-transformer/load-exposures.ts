import type { ReadExposures } from '../../core/schema/exposure.js';
import { askClass } from './probe-class.js';
import type { ClassTransformer, TransformOptions } from './probe-class.js';

/** class-transformer as it is imported: 0.4 has other names for the same functions. */
interface Library {
  readonly plainToClassFromExist: (target: object, plain: object, options: TransformOptions) => object;
  readonly instanceToPlain?: (object: object, options: TransformOptions) => object;
  readonly classToPlain?: (object: object, options: TransformOptions) => object;
}

/** What the application's decorators of class-transformer say of classes; undefined where it is not installed. */
export async function loadExposures(): Promise<ReadExposures | undefined> {
  const library = await importClassTransformer();
  const toPlain = library?.instanceToPlain ?? library?.classToPlain;
  if (!library || !toPlain) return undefined;
  const transformer: ClassTransformer = { toPlain, toInstance: library.plainToClassFromExist };
  return (type, samples) => askClass(type, samples, transformer);
}

async function importClassTransformer(): Promise<Library | undefined> {
  try {
    return await import('class-transformer');
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
