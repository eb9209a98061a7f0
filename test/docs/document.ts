import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { wholeExample } from '../../site/scaffolding.cjs';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of a document. */
interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** A command of a `console` block, and the answer that is shown below it. */
export interface ShownCall {
  readonly kind: 'call';
  readonly line: number;
  readonly command: string;
  readonly shown: string;
}

/** A `ts` block whose first line is `// example: <file>`; its source has the imports and the module that the block leaves out. */
export interface Example {
  readonly kind: 'example';
  readonly line: number;
  readonly file: string;
  readonly source: string;
}

/** A `ts` block whose first line is `// refused: <file>`, and the message in the `text` block that follows. */
export interface Refused {
  readonly kind: 'refused';
  readonly line: number;
  readonly file: string;
  readonly source: string;
  readonly message: string;
}

export type Part = ShownCall | Example | Refused;

/** A document of the project, with what can be tried of it, in its order. */
export interface ProjectDocument {
  /** Relative to the project: `docs/reference/queries.md`. */
  readonly path: string;
  readonly text: string;
  readonly parts: readonly Part[];
}

/** All documents in the project's root and below `docs/`. */
export function projectDocuments(): readonly ProjectDocument[] {
  const inRoot = readdirSync(PROJECT).filter((name) => name.endsWith('.md'));
  const inDocs = readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return [...inRoot, ...inDocs.map((name) => join('docs', name))].sort().map(readDocument);
}

export function readDocument(path: string): ProjectDocument {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  return { path, text, parts: partsOf(blocksOf(text)) };
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```(\w*)\s*$/.exec(line);
    if (!fence) open?.lines.push(line);
    else if (open) {
      blocks.push({ language: open.language, text: open.lines.join('\n'), line: open.line });
      open = undefined;
    } else open = { language: fence[1] ?? '', line: index + 1, lines: [] };
  }
  if (open) throw new Error(`The block of line ${open.line} is never closed`);
  return blocks;
}

function partsOf(blocks: readonly Block[]): readonly Part[] {
  return blocks.flatMap((block, index): readonly Part[] => {
    if (block.language === 'console') return callsOf(block);
    if (block.language !== 'ts') return [];
    const [, kind, file] = /^\/\/ (example|refused): (\S+)\n/.exec(block.text) ?? [];
    if (kind === undefined || file === undefined) return [];
    // Documents show Vitest, whose functions are those of Jest by the same names.
    const source = wholeExample(block.text).replace("from 'vitest'", "from '@jest/globals'");
    if (kind === 'example') return [{ kind, line: block.line, file, source }];
    const next = blocks[index + 1];
    if (next?.language !== 'text')
      throw new Error(`The refused example of line ${block.line} shows no message`);
    return [{ kind: 'refused', line: block.line, file, source, message: next.text }];
  });
}

function callsOf({ text, line }: Block): readonly ShownCall[] {
  const calls: { command: string; output: string[]; line: number }[] = [];
  let continued = false;
  for (const [index, each] of text.split('\n').entries()) {
    const last = calls.at(-1);
    if (continued && last) last.command += `\n${each}`;
    else if (each.startsWith('$ '))
      calls.push({ command: each.slice(2), output: [], line: line + index + 1 });
    else {
      last?.output.push(each);
      continue;
    }
    continued = goesOn(calls.at(-1)?.command ?? '');
  }
  return calls.map((call) => ({
    kind: 'call',
    line: call.line,
    command: call.command,
    shown: call.output.join('\n').trimEnd(),
  }));
}

/** A backslash at its end, or a quote that is still open. */
function goesOn(command: string): boolean {
  return command.endsWith('\\') || (command.match(/'/g) ?? []).length % 2 === 1;
}
