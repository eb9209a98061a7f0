import { DeclarationError, restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { AppSettings } from '../support/start-app.js';

/** An entity with an `id` and these texts. */
export function entityOf(name: string, columns: readonly string[] = []): new () => object {
  const made = {
    [name]: class {
      readonly id: number;
    },
  }[name];
  if (!made) throw new Error('No class');
  PrimaryGeneratedColumn()(made.prototype, 'id');
  for (const column of columns) Column({ type: 'varchar' })(made.prototype, column);
  Entity({ name: `boot_${name.toLowerCase()}` })(made);
  return made;
}

/** Declares as an author of plain JavaScript does, whom no type holds back. */
export function declareUnchecked(
  target: Parameters<typeof restify>[0],
  options: Readonly<Record<string, unknown>>,
): void {
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

/** The problems as lines: `Post.fields[0]: "titel" is not a field of Post. Did you mean "title"?` */
export async function problemsOf(settings: AppSettings): Promise<readonly string[]> {
  return linesOf(await refusal(settings));
}

export function linesOf({ problems }: DeclarationError): readonly string[] {
  return problems.map(({ where, what, repair }) => `${where}: ${what}. ${repair}`);
}
