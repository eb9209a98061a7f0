import { DeclarationError, restify } from 'nestjs-restify';
import { startApp } from '../support/start-app.js';
import type { AppSettings } from '../support/start-app.js';

/** Declares as an author of plain JavaScript does, whom no type holds back. */
export function declareUnchecked(target: Parameters<typeof restify>[0], options: Readonly<Record<string, unknown>>): void {
  restify(target, options as never);
}

/** The error with which an application refuses to start. Throws where it starts, or fails with another error. */
export async function refusal(settings: AppSettings): Promise<DeclarationError> {
  const outcome = await startApp(settings).catch((error: unknown) => error);
  if (outcome instanceof DeclarationError) return outcome;
  if (outcome instanceof Error) throw outcome;
  await (outcome as { close(): Promise<void> }).close();
  throw new Error('The application has started.');
}

/** The problems as lines: `Post.fields[0]: "titel" is no field of Post. Did you mean "title"?` */
export async function problemsOf(settings: AppSettings): Promise<readonly string[]> {
  return linesOf(await refusal(settings));
}

export function linesOf({ problems }: DeclarationError): readonly string[] {
  return problems.map(({ where, what, repair }) => `${where}: ${what}. ${repair}`);
}
