import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import { isEverTaken } from '../../core/schema/field.js';
import type { Field } from '../../core/schema/field.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { ReadRules } from '../../core/schema/value-rules.js';
import { readRules } from './read-rules.js';
import type { ValidationMetadataLike } from './read-rules.js';
import { validatedView, writtenWithin } from './validated-view.js';
import type { DatesAsTexts, Written } from './validated-view.js';

/** class-validator's own error, as far as it is read here: the package is an optional peer. */
interface ValidationErrorLike {
  readonly property: string;
  readonly constraints?: Readonly<Record<string, string>>;
  readonly children?: readonly ValidationErrorLike[];
}

interface ClassValidator {
  validate(
    object: object,
    options: { forbidUnknownValues: boolean; skipUndefinedProperties: boolean },
  ): Promise<readonly ValidationErrorLike[]>;
  getMetadataStorage(): {
    getTargetValidationMetadatas(
      target: unknown,
      schema: string,
      always: boolean,
      strictGroups: boolean,
    ): readonly ValidationMetadataLike[];
  };
}

/** Runs class-validator's decorators over an entity that is about to be written. */
export interface EntityValidator {
  validate(entity: object, resource: ResourceSchema, written: Written): Promise<FieldErrors>;
  /** Whether a class has any. */
  validates(target: unknown): boolean;
  /** What of it a schema can say. */
  readonly rulesOf: ReadRules;
}

/** Where every copy of class-validator in a process keeps what its decorators record. Without any there is nothing. */
const RECORDS = 'classValidatorMetadataStorage';

/**
 * The validator, or undefined where the application has not installed class-validator, or decorates nothing with it: to load it
 * takes as long as a hundred entities.
 */
export async function loadEntityValidator(): Promise<EntityValidator | undefined> {
  if (!(RECORDS in globalThis)) return undefined;
  const library = await importClassValidator();
  if (!library) return undefined;
  const datesAsTexts = datesAsTextsOf(library);
  return {
    validate: async (entity, resource, written) => {
      const seen = validatedView(entity, resource.fields, { written, datesAsTexts });
      // What is left out is filled by the database, and whether it may be is not theirs to say.
      const found = await library.validate(seen, {
        forbidUnknownValues: false,
        skipUndefinedProperties: true,
      });
      return fieldErrors(found, resource.fields, written);
    },
    rulesOf: (target) =>
      readRules(library.getMetadataStorage().getTargetValidationMetadatas(target, '', true, false)),
    validates: (target) =>
      library.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false).length > 0,
  };
}

/** Of each class once: nothing is decorated while requests are answered. */
function datesAsTextsOf(library: ClassValidator): DatesAsTexts {
  const known = new WeakMap<object, ReadonlySet<string>>();
  return (type) => {
    if (typeof type !== 'function') return NONE;
    const found =
      known.get(type) ??
      new Set(
        library
          .getMetadataStorage()
          .getTargetValidationMetadatas(type, '', true, false)
          .filter(({ name }) => name !== undefined && TEXTS_OF_DATES.has(name))
          .map(({ propertyName }) => propertyName),
      );
    known.set(type, found);
    return found;
  };
}

const NONE: ReadonlySet<string> = new Set();
/** Names of the validators that judge the text of a date: @IsDateString, @IsISO8601, @IsRFC3339. */
const TEXTS_OF_DATES: ReadonlySet<string> = new Set(['isDateString', 'isIso8601', 'isRFC3339']);

async function importClassValidator(): Promise<ClassValidator | undefined> {
  try {
    return await import('class-validator');
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** In the place of a message about a stored value that the caller may not read: `$value` would show it. */
const NOT_VALID = 'Not a valid value.';

/** Errors of fields that a client can write. What only the application can set, only the application can mend. */
function fieldErrors(
  found: readonly ValidationErrorLike[],
  fields: readonly Field[],
  written: Written,
): FieldErrors {
  const errors = emptyFieldErrors();
  for (const { property, constraints, children } of found) {
    const field = fields.find((each) => each.name === property && isEverTaken(each));
    if (!field) continue;
    if (field.kind === 'embedded' && children && children.length > 0)
      errors[property] = fieldErrors(children, field.fields, writtenWithin(written, property));
    else if (!field.readable && !written.values.has(property)) errors[property] = [NOT_VALID];
    else
      errors[property] = messagesOf({ property, constraints: constraints ?? {}, children: children ?? [] });
  }
  return errors;
}

function messagesOf({ constraints, children }: ValidationErrorLike): string[] {
  const own = Object.values(constraints ?? {});
  return own.length > 0 ? own : (children ?? []).flatMap(messagesOf);
}
