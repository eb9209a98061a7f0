import type { RestifyOptions } from '../../decorators/restify-options.js';
import type { CompilerInput } from '../blueprint.js';
import { isGuard } from './unfit-scheme.js';

/** Models that everybody may read and write because nobody has said anything of it: one sentence for the log, that names them. */
export function openModelWarnings({ prefix, drafts, defaults }: CompilerInput): readonly string[] {
  if (defaults.permissions !== undefined || isGuarded(defaults)) return [];
  const open = drafts.filter(
    ({ declaration: { options } }) => options.permissions === undefined && !isGuarded(options),
  );
  if (open.length === 0) return [];
  const names = open.map(({ app, model }) => `${app ?? ''}.${model}`).join(', ');
  return [
    `RestifyModule.forRoot('${prefix}'): everybody may read and write ${names}, because no permissions are named.` +
      ' Name permissions for each, or for all in forRoot; [AllowAny] says that it is meant.',
  ];
}

/** Some guard stands before it: one in `authentication` lets nobody pass whom it does not know. */
function isGuarded({ guards, authentication }: Pick<RestifyOptions, 'guards' | 'authentication'>): boolean {
  return (guards?.length ?? 0) > 0 || authentication?.some(isGuard) === true;
}
