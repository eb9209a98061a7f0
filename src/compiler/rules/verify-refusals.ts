import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../blueprint.js';

/** Another word would hide nothing, and look as if it did. */
export function verifyRefusals({ prefix, refusalsHide }: CompilerInput): readonly DeclarationProblem[] {
  if (refusalsHide === 'rows' || refusalsHide === 'nothing') return [];
  return [
    {
      where: `RestifyModule.forRoot('${prefix}').refusalsHide`,
      what: `refusals hide no ${JSON.stringify(refusalsHide)}`,
      repair: "Write 'rows' or 'nothing'.",
    },
  ];
}
