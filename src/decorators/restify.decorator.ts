import { declarations } from './metadata-storage.js';
import type { ResourceDeclaration, RestifyOptions } from './model-options.js';

/** A class of entities. */
type EntityClass<Entity extends object> = abstract new (...args: never[]) => Entity;

/** The structure of TypeORM's `EntitySchema`: this folder does not import TypeORM. */
export interface SchemaLike<Entity extends object = object> {
  readonly options: {
    readonly name: string;
    readonly target?: unknown;
    readonly columns: { readonly [Name in keyof Entity]?: unknown };
  };
}

/** With only a label, for any entity, so that different entities can be registered in a loop. */
type AnyEntity<App> = [App] extends [never] ? never : EntityClass<object> | SchemaLike;

/** The TypeScript error for unknown options: no value has this type, whose text is the message. */
type KnownOptions<Options> = [UnknownOption<Options>] extends [never]
  ? unknown
  : {
      readonly [Name in UnknownOption<Options>]: Options[Name] extends Primitive
        ? Refused<NoOption<Name>>
        : NoOption<Name>;
    };

type UnknownOption<Options> = Exclude<keyof Options, keyof RestifyOptions>;

type NoOption<Name> = `@Restify has no option "${Name & string}"`;
type Primitive = string | number | boolean | bigint | symbol | null | undefined;

/** An object, because the intersection of two different primitives would be `never`, in the place of the message. */
interface Refused<Message> {
  readonly refused: Message;
}

/** The TypeScript error for options that do not fit the entity: no class has this type, whose text is the message. */
type Fitting<Options, Entity extends object> =
  Options extends RestifyOptions<Entity>
    ? [MisfitByPath<Options, Entity>] extends [never]
      ? unknown
      : MisfitByPath<Options, Entity>
    : Misfit<Options, Entity>;

type Misfit<Options, Entity extends object> = {
  [Name in keyof Options & keyof RestifyOptions]: Options[Name] extends RestifyOptions<Entity>[Name]
    ? never
    : MisfitOf<Name, Options[Name], NonNullable<RestifyOptions<Entity>[Name]>>;
}[keyof Options & keyof RestifyOptions];

/** Paths that begin with a column of JSON are a pattern, beside which TypeScript allows any other name. */
type MisfitByPath<Options, Entity extends object> = Options extends { readonly filterFields: infer Given }
  ? Given extends readonly unknown[]
    ? never
    : string extends keyof Given
      ? never
      : NotOfEntity<'filterFields', UnknownNames<Given, NonNullable<RestifyOptions<Entity>['filterFields']>>>
  : never;

type MisfitOf<Option extends string, Given, Fit> = Given extends readonly (infer Name extends string)[]
  ? NotOfEntity<Option, Exclude<Name, ItemOf<Fit>>>
  : [UnknownNames<Given, Fit>] extends [never]
    ? `@Restify: the values of ${Option} do not fit the entity`
    : NotOfEntity<Option, UnknownNames<Given, Fit>>;

type NotOfEntity<
  Option extends string,
  Name extends string,
> = `@Restify: "${Name}" in ${Option} is not ${Option extends 'listenerRelations' | 'expandable' | 'through' ? 'a relation' : 'a field'} of the entity`;

type ItemOf<Fit> = Fit extends readonly (infer Item)[] ? Item : never;

/** Of an option with members by name, those whose names the entity does not have. Names of filters and computed fields are free. */
type UnknownNames<Given, Fit> = Fit extends readonly unknown[]
  ? never
  : Fit extends object
    ? string extends keyof Fit
      ? never
      : Exclude<keyof Given & string, keyof Fit>
    : never;

/**
 * Registers an entity for the REST interface. The text is the app label, the first word of its path; the second is the
 * class name in lower case. Without a label, `RestifyModule.forFeature(app, [entities])` gives it.
 *
 * ```ts
 * @Restify({ app: 'polls', filterFields: ['votes', 'question'], ordering: ['-votes'] })
 * @Entity()
 * export class Choice { … }
 * ```
 */
export function Restify<const Options extends RestifyOptions>(
  appOrOptions?: string | (Options & KnownOptions<Options>),
  ...others: never[]
): <Entity extends object>(target: EntityClass<Entity> & Fitting<Options, Entity>) => void {
  const options: RestifyOptions =
    typeof appOrOptions === 'string' ? { app: appOrOptions } : (appOrOptions ?? {});
  return (target) => {
    declare(target, { options, hasMoreArguments: others.length > 0 });
  };
}

/**
 * Registers an entity like `@Restify`, for a class of another package or an `EntitySchema`.
 *
 * ```ts
 * for (const entity of [User, Team, TagSchema]) restify(entity, 'accounts');
 * restify(UserSchema, { app: 'accounts', exclude: ['password'] });
 * ```
 */
export function restify<Entity extends object, App extends string = never>(
  target: EntityClass<Entity> | SchemaLike<Entity> | AnyEntity<App>,
  appOrOptions: App | RestifyOptions<NoInfer<Entity>> = {},
  ...others: never[]
): void {
  const options = typeof appOrOptions === 'string' ? { app: appOrOptions } : appOrOptions;
  declare(target, { options, hasMoreArguments: others.length > 0 });
}

function declare(target: object, given: Pick<ResourceDeclaration, 'options' | 'hasMoreArguments'>): void {
  assertEntity(target);
  const { name } = declaredClass(target);
  declarations().set(target, { target, name, ...given });
}

/** Rejects undefined, for example of a circular import, and everything else that is neither a class nor a schema. */
function assertEntity(target: unknown): void {
  if (typeof target === 'function' || (typeof target === 'object' && target !== null)) return;
  const repair =
    target === undefined
      ? 'It is not there yet: look for files that import each other in a circle.'
      : "Write the class itself: restify(User, 'accounts').";
  throw new TypeError(
    `restify(${String(target)}, …): this is neither the class of an entity nor an EntitySchema. ${repair}`,
  );
}

/** The class of an entity, from which its name is derived; for a schema its target, if there is one. */
function declaredClass(target: object): { readonly name: string } {
  if (!isSchemaLike(target)) return target as { name: string };
  const { options } = target;
  return typeof options.target === 'function' ? options.target : options;
}

function isSchemaLike(target: object): target is SchemaLike {
  return typeof target !== 'function' && 'options' in target && typeof target.options === 'object';
}
