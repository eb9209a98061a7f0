import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface LintProblem {
  readonly severity: 'error' | 'warn';
  readonly ruleId: string;
  readonly message: string;
  /** A pointer into the document. */
  readonly at: string;
}

const SCRIPT = fileURLToPath(new URL('redocly-process.mjs', import.meta.url));

/** The problems that Redocly's linter finds in a document, with its recommended rules. */
export async function lintOpenApi(document: object): Promise<readonly LintProblem[]> {
  const child = spawn(process.execPath, [SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  child.stdin.end(JSON.stringify(document));
  return JSON.parse(await text(child.stdout)) as readonly LintProblem[];
}
