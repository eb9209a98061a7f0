import type { RestifyOptions } from '../../decorators/restify-options.js';
import type { CompilerInput } from '../blueprint.js';

/** Options as somebody gave them, unchecked, and where. */
export interface OptionLocation {
  /** `Poll`, `Student.through.course_set` or `RestifyModule.forRoot('rest/v1')`. */
  readonly where: string;
  readonly options: { readonly [Name in keyof RestifyOptions]?: unknown };
}

/** Everywhere that an option of a prefix, a model or a junction can be given. */
export function optionLocations({
  prefix,
  defaults,
  drafts,
}: Pick<CompilerInput, 'prefix' | 'defaults' | 'drafts'>): readonly OptionLocation[] {
  return [
    { where: `RestifyModule.forRoot('${prefix}')`, options: defaults },
    ...drafts.flatMap(({ declaration: { name, options } }): readonly OptionLocation[] => [
      { where: name, options },
      ...Object.entries(options.through ?? {}).map(([relation, rules]): OptionLocation => ({
        where: `${name}.through.${relation}`,
        options: rules as OptionLocation['options'],
      })),
    ]),
  ];
}
