import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT } from '../docs/document.js';

/** One step of a recipe: lines that are added to a file, behind a line that is there. */
export interface Step {
  readonly file: string;
  readonly behind: string;
  readonly lines: readonly string[];
}

/**
 * The steps of a `diff` block: sections that begin with the path of a file, followed by lines of that file and by lines with `+`
 * that are added behind them.
 */
export function stepsOf(block: string): readonly Step[] {
  return block.split('\n\n').flatMap((section) => {
    const [head = '', ...lines] = section.split('\n').filter((line) => line !== '');
    const steps: { file: string; behind: string; lines: string[] }[] = [];
    for (const line of lines) {
      if (!line.startsWith('+')) steps.push({ file: head.trim(), behind: line.slice(1), lines: [] });
      else steps.at(-1)?.lines.push(line.slice(1));
    }
    return steps;
  });
}

const OPTIONS = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(PROJECT, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')).config,
  { ...ts.sys, readDirectory: () => [] },
  PROJECT,
).options;

/** Files of the project, as they are or changed, without being written. */
export class SourceCopy {
  private readonly changed = new Map<string, string>();
  /** Parsed files that no copy changes. */
  private static readonly parsed = new Map<string, ts.SourceFile | undefined>();

  /** @throws where a step has no place: the line before it is missing, or there are several. */
  constructor(steps: readonly Step[]) {
    for (const { file, behind, lines } of steps) {
      const before = this.read(file).split('\n');
      const places = before.filter((line) => line === behind).length;
      if (places !== 1) throw new Error(`${file} has the line ${places} times: ${behind}`);
      this.changed.set(
        file,
        before.flatMap((line) => (line === behind ? [line, ...lines] : [line])).join('\n'),
      );
    }
  }

  read(file: string): string {
    return this.changed.get(file) ?? readFileSync(join(PROJECT, file), 'utf8');
  }

  /** What the compiler reports in the first of these files, or else of the changed ones, that has an error: `<file>: <message>`. */
  findTypeErrors(files: readonly string[]): readonly string[] {
    const all = [...new Set([...files, ...this.changed.keys()])].filter((file) => file.endsWith('.ts'));
    const host: ts.CompilerHost = {
      ...ts.createCompilerHost(OPTIONS),
      getSourceFile: (path, version) => this.parse(path, version),
    };
    const program = ts.createProgram(
      all.map((file) => join(PROJECT, file)),
      OPTIONS,
      host,
    );
    for (const file of all) {
      const found = program.getSemanticDiagnostics(program.getSourceFile(join(PROJECT, file)));
      if (found.length > 0)
        return found.map(
          ({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
        );
    }
    return [];
  }

  private parse(
    path: string,
    version: ts.ScriptTarget | ts.CreateSourceFileOptions,
  ): ts.SourceFile | undefined {
    const changed = this.changed.get(path.slice(PROJECT.length));
    if (changed !== undefined) return ts.createSourceFile(path, changed, version, true);
    if (!SourceCopy.parsed.has(path))
      SourceCopy.parsed.set(
        path,
        existsSync(path) ? ts.createSourceFile(path, readFileSync(path, 'utf8'), version, true) : undefined,
      );
    return SourceCopy.parsed.get(path);
  }
}
