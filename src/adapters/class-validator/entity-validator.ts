import { isMissingPackage } from '../../core/errors/missing-package.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import { isAcceptedInBodies } from '../../core/schema/field.js';
import type { EmbeddedField, Field } from '../../core/schema/field.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { BodyReader, ClassRulesReader, ClassValidators } from '../../core/schema/value-rules.js';
import { readBody } from './read-body.js';
import { readRules } from './read-rules.js';
import type { ValidationMetadataLike } from './read-rules.js';
import { validatedView, writtenWithin } from './validated-view.js';
import type { DatesAsTexts, Written } from './validated-view.js';

/** The used part of class-validator's error. The package is an optional peer dependency. */
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

/** Validates an entity with class-validator before it is written. */
export interface EntityValidator {
  validate(entity: object, resource: ResourceSchema, written: Written): Promise<FieldErrors>;
  /** Whose validators a class has. */
  classValidatorsOf(target: unknown): ClassValidators;
  /** The rules of a class as far as a JSON Schema can express them. */
  readonly rulesOf: ClassRulesReader;
  /** The properties of a class that is the body of an action. */
  readonly readBody: BodyReader;
}

/** The global variable in which all copies of class-validator store the metadata of decorators. */
const METADATA_STORAGE = 'classValidatorMetadataStorage';

/**
 * Loads the validator; undefined if class-validator is not installed, or if nothing is decorated with it: loading it takes as
 * long as a hundred entities.
 */
export async function loadEntityValidator(): Promise<EntityValidator | undefined> {
  if (!(METADATA_STORAGE in globalThis)) return undefined;
  const library = await importClassValidator();
  if (!library) return undefined;
  const datesAsTexts = datesAsTextsOf(library);
  const metadataOf = (target: unknown): readonly ValidationMetadataLike[] =>
    library.getMetadataStorage().getTargetValidationMetadatas(target, '', true, false);
  return {
    validate: async (entity, resource, written) => {
      const view = validatedView(entity, resource.fields, { written, datesAsTexts });
      // The database sets missing values, which therefore are not validated.
      const found = await library.validate(view, {
        forbidUnknownValues: false,
        skipUndefinedProperties: true,
      });
      return fieldErrors(found, resource.fields, { entity, written });
    },
    rulesOf: (target) => readRules(metadataOf(target)),
    readBody: (type) => readBody(type, metadataOf),
    classValidatorsOf: (target) => {
      const all = library.getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
      if (all.length === 0) return 'none';
      return all.every((each) => isBuiltIn(each, library)) ? 'built-in' : 'own';
    },
  };
}

/**
 * The package exports the name of each of its validators. Those that validate nested objects call the validators of
 * others, and `validateIf` is a function of the application.
 */
function isBuiltIn({ type, name, validateIf }: ValidationMetadataLike, library: ClassValidator): boolean {
  if (validateIf !== undefined) return false;
  return type === 'whitelistValidation' || (name !== undefined && Object.values(library).includes(name));
}

/** Cached by class, because decorators are not added after the start. */
function datesAsTextsOf(library: ClassValidator): DatesAsTexts {
  const known = new WeakMap<object, ReadonlySet<string>>();
  return (type) => {
    if (typeof type !== 'function') return NO_NAMES;
    const properties =
      known.get(type) ??
      new Set(
        library
          .getMetadataStorage()
          .getTargetValidationMetadatas(type, '', true, false)
          .filter(({ name }) => name !== undefined && DATE_TEXT_VALIDATORS.has(name))
          .map(({ propertyName }) => propertyName),
      );
    known.set(type, properties);
    return properties;
  };
}

const NO_NAMES: ReadonlySet<string> = new Set();
/** The names of the validators that admit a date only as text. */
const DATE_TEXT_VALIDATORS: ReadonlySet<string> = new Set([
  'isDateString',
  'isIso8601',
  'isRFC3339',
  'isString',
  'isLength',
  'minLength',
  'maxLength',
  'matches',
  'contains',
]);

async function importClassValidator(): Promise<ClassValidator | undefined> {
  try {
    return await import('class-validator');
  } catch (error) {
    if (isMissingPackage(error)) return undefined;
    throw error;
  }
}

/** Replaces the messages about a stored value that the caller may not read: `$value` would disclose it. */
const NOT_VALID = 'Not a valid value.';

/** The errors of the fields that clients can write. Clients could not correct the others. */
function fieldErrors(
  found: readonly ValidationErrorLike[],
  fields: readonly Field[],
  { entity, written }: { readonly entity: object; readonly written: Written },
): FieldErrors {
  const errors = emptyFieldErrors();
  for (const { property, constraints, children } of found) {
    const field = fields.find((each) => each.name === property && isAcceptedInBodies(each));
    if (!field) continue;
    const value = (entity as Readonly<Record<string, unknown>>)[property];
    const isWritten = written.values.has(property);
    if (field.kind === 'embedded' && children && children.length > 0)
      Object.assign(errors, embeddedErrors(children, field, { entity: Object(value) as object, written }));
    else if (!isWritten && (value === null || isDefault(field, value))) continue;
    else if (!field.readable && !isWritten) errors[property] = [NOT_VALID];
    else
      errors[property] = messagesOf({ property, constraints: constraints ?? {}, children: children ?? [] });
  }
  return errors;
}

function embeddedErrors(
  found: readonly ValidationErrorLike[],
  { name, fields }: EmbeddedField,
  { entity, written }: { readonly entity: object; readonly written: Written },
): FieldErrors {
  const inner = fieldErrors(found, fields, { entity, written: writtenWithin(written, name) });
  return Object.keys(inner).length > 0 ? { [name]: inner } : {};
}

/** Whether it is the column's default, with which an object can be created. */
function isDefault(field: Field, value: unknown): boolean {
  if (field.kind !== 'column' || field.defaultText === undefined) return false;
  const { defaultText: text } = field;
  return String(value) === text || (text !== '' && value !== '' && Number(value) === Number(text));
}

function messagesOf({ constraints, children }: ValidationErrorLike): string[] {
  const own = Object.values(constraints ?? {});
  return own.length > 0 ? own : (children ?? []).flatMap(messagesOf);
}
