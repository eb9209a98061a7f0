import { PREFIX_OPTIONS } from '../compiler/rules/option-kinds.js';
import type { RestifyModuleOptions } from '../restify.options.js';

/**
 * A plain copy of the options of a prefix. An instance of a class may have them as getters or inherit them: without these
 * the prefix would have the defaults, such as `AllowAny`. Own properties with unknown names are kept for the verification.
 */
export function readOptions<Options extends RestifyModuleOptions>(given: Options): Options {
  if (typeof given !== 'object' || (given as unknown) === null) return given;
  const names = Object.keys(PREFIX_OPTIONS) as (keyof RestifyModuleOptions)[];
  const known = names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]] as const);
  return { ...given, ...Object.fromEntries(known) };
}
