import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput } from '../compiler-input.js';

/** Rejects unknown values of `refusalsHide`, which would hide nothing. */
export function verifyRefusals({ prefix, refusalsHide }: CompilerInput): readonly DeclarationProblem[] {
  if (refusalsHide === 'rows' || refusalsHide === 'nothing') return [];
  return [
    {
      where: `RestifyModule.forRoot('${prefix}').refusalsHide`,
      what: `refusalsHide cannot be ${JSON.stringify(refusalsHide)}`,
      repair: "Write 'rows' or 'nothing'.",
    },
  ];
}
