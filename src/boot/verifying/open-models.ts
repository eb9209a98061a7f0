import type { Blueprint } from '../compiling/draft.js';

/** Models that everybody may read and write because nobody has said anything of it: one sentence for the log, that names them. */
export function openModels({ prefix, drafts, defaults }: Blueprint): readonly string[] {
  if (defaults.permissions !== undefined || isGiven(defaults.guards)) return [];
  const open = drafts.filter(
    ({ declaration: { options } }) => options.permissions === undefined && !isGiven(options.guards),
  );
  if (open.length === 0) return [];
  const names = open.map(({ app, model }) => `${app ?? ''}.${model}`).join(', ');
  return [
    `RestifyModule.forRoot('${prefix}'): everybody may read and write ${names}, because no permissions are named.` +
      ' Name permissions for each, or for all in forRoot; [AllowAny] says that it is meant.',
  ];
}

function isGiven(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}
