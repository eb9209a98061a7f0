import type { RestifyOptions } from '../../decorators/model-options.js';
import type { CompilerInput } from '../compiler-input.js';
import { isGuard } from './unfit-scheme.js';

/** Warns about models that every caller may read and write because no permission is declared: one sentence for the log. */
export function openModelWarnings({ prefix, drafts, defaults }: CompilerInput): readonly string[] {
  if (defaults.permissions !== undefined || hasGuards(defaults)) return [];
  const open = drafts.filter(
    ({ declaration: { options } }) => options.permissions === undefined && !hasGuards(options),
  );
  if (open.length === 0) return [];
  const names = open.map(({ app, model }) => `${app ?? ''}.${model}`).join(', ');
  return [
    `RestifyModule.forRoot('${prefix}'): everybody may read and write ${names}, because no permissions are named.` +
      ' Name permissions for each, or for all in forRoot; [AllowAny] says that it is meant.',
  ];
}

/** Whether a guard protects it: a guard in `authentication` rejects unauthenticated callers. */
function hasGuards({ guards, authentication }: Pick<RestifyOptions, 'guards' | 'authentication'>): boolean {
  return (guards?.length ?? 0) > 0 || authentication?.some(isGuard) === true;
}
