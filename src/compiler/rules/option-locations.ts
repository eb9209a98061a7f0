import type { RestifyOptions } from '../../decorators/model-options.js';
import type { CompilerInput } from '../compiler-input.js';

/** Options as declared, not yet validated, with their location. */
export interface OptionLocation {
  /** `Poll`, `Student.through.course_set` or `RestifyModule.forRoot('rest/v1')`. */
  readonly where: string;
  readonly options: { readonly [Name in keyof RestifyOptions]?: unknown };
}

/** All locations of options: prefixes, models and junctions. */
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
