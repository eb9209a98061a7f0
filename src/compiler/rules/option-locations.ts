import type { RestifyOptions } from '../../decorators/restify-options.js';
import type { Blueprint } from '../blueprint.js';

/** Options as somebody gave them, unchecked, and where. */
export interface Place {
  /** `Poll`, `Student.through.course_set` or `RestifyModule.forRoot('rest/v1')`. */
  readonly where: string;
  readonly options: { readonly [Name in keyof RestifyOptions]?: unknown };
}

/** Everywhere that an option of a prefix, a model or a junction can be given. */
export function placesOf({
  prefix,
  defaults,
  drafts,
}: Pick<Blueprint, 'prefix' | 'defaults' | 'drafts'>): readonly Place[] {
  return [
    { where: `RestifyModule.forRoot('${prefix}')`, options: defaults },
    ...drafts.flatMap(({ declaration: { name, options } }): readonly Place[] => [
      { where: name, options },
      ...Object.entries(options.through ?? {}).map(([relation, rules]): Place => ({
        where: `${name}.through.${relation}`,
        options: rules as Place['options'],
      })),
    ]),
  ];
}
