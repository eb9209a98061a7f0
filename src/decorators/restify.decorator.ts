import { declarations } from './metadata-storage.js';
import type { RestifyOptions } from './restify-options.js';

/** A class with instances of one kind. */
type EntityClass<Entity extends object> = abstract new (...args: never[]) => Entity;

/** What an `EntitySchema` of TypeORM looks like from here: this room imports no ORM. */
export interface SchemaLike<Entity extends object = object> {
  readonly options: {
    readonly name: string;
    readonly target?: unknown;
    readonly columns: { readonly [Name in keyof Entity]?: unknown };
  };
}

/** With a label alone, whatever the entity: so that entities of several classes can be registered in a loop. */
type AnyEntity<App> = [App] extends [never] ? never : EntityClass<object> | SchemaLike;

/** The error that TypeScript shows where an option names something that the entity does not have. */
export interface OptionsDoNotFitTheEntity {
  readonly 'an option of @Restify names a field that this entity does not have': never;
}

/** The error that TypeScript shows for an option that does not exist. */
export interface NoSuchOption<Name> {
  readonly '@restify has no such option': Name;
}

type Fitting<Options, Entity extends object> =
  Options extends RestifyOptions<Entity>
    ? Exclude<keyof Options, keyof RestifyOptions> extends never
      ? unknown
      : NoSuchOption<Exclude<keyof Options, keyof RestifyOptions>>
    : OptionsDoNotFitTheEntity;

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
  appOrOptions?: string | Options,
): <Entity extends object>(target: EntityClass<Entity> & Fitting<Options, Entity>) => void {
  const options: RestifyOptions =
    typeof appOrOptions === 'string' ? { app: appOrOptions } : (appOrOptions ?? {});
  return (target) => {
    declare(target, options);
  };
}

/**
 * Does what `@Restify` does, for a class from elsewhere or an `EntitySchema`.
 *
 * ```ts
 * for (const entity of [User, Team, TagSchema]) restify(entity, 'accounts');
 * restify(UserSchema, { app: 'accounts', exclude: ['password'] });
 * ```
 */
export function restify<Entity extends object, App extends string = never>(
  target: EntityClass<Entity> | SchemaLike<Entity> | AnyEntity<App>,
  appOrOptions: App | RestifyOptions<NoInfer<Entity>> = {},
): void {
  declare(target, typeof appOrOptions === 'string' ? { app: appOrOptions } : appOrOptions);
}

function declare(target: object, options: RestifyOptions): void {
  refuseNoEntity(target);
  const { name } = declaredClass(target);
  declarations().set(target, { target, name, options });
}

/** Of a class that is not there yet, and of whatever else could not be told from others when the application starts. */
function refuseNoEntity(target: unknown): void {
  if (typeof target === 'function' || (typeof target === 'object' && target !== null)) return;
  const repair =
    target === undefined
      ? 'It is not there yet: look for files that import each other in a circle.'
      : "Write the class itself: restify(User, 'accounts').";
  throw new TypeError(
    `restify(${String(target)}, …): this is no class of an entity, and no EntitySchema. ${repair}`,
  );
}

/** What the entity is named after: its class, also where a schema maps it under another name. */
function declaredClass(target: object): { readonly name: string } {
  if (!isSchemaLike(target)) return target as { name: string };
  const { options } = target;
  return typeof options.target === 'function' ? options.target : options;
}

function isSchemaLike(target: object): target is SchemaLike {
  return typeof target !== 'function' && 'options' in target && typeof target.options === 'object';
}
