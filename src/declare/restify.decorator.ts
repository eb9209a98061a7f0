import { declarations } from './registry.js';
import type { RestifyOptions } from './restify-declaration.js';

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
 * restify(UserSchema, { app: 'accounts', exclude: ['password'] });
 * ```
 */
export function restify<Entity extends object>(
  target: EntityClass<Entity> | SchemaLike<Entity>,
  appOrOptions: string | RestifyOptions<Entity> = {},
): void {
  declare(target, typeof appOrOptions === 'string' ? { app: appOrOptions } : appOrOptions);
}

function declare(target: object, options: RestifyOptions): void {
  const name = isSchema(target) ? target.options.name : (target as { name: string }).name;
  declarations().set(target, { target, name, options });
}

function isSchema(target: object): target is SchemaLike {
  return typeof target !== 'function' && 'options' in target && typeof target.options === 'object';
}
