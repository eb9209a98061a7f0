import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT } from './document.js';

/** What stands for the varying parts of a message. */
export const VARYING = '…';

export function parseSource(path: string): ts.SourceFile {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

export function* nodesOf(node: ts.Node): Iterable<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodesOf(child);
}

/** The texts that an expression may have, with `…` for what varies; undefined if nothing of it is known. */
export function textsOf(node: ts.Expression): readonly string[] | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isArrowFunction(node)) return ts.isBlock(node.body) ? undefined : textsOf(node.body);
  if (ts.isConditionalExpression(node)) return alternatives([node.whenTrue, node.whenFalse]);
  if (ts.isTemplateExpression(node)) return textsOfTemplate(node);
  const known = ts.isIdentifier(node) ? initializerOf(node) : returnedBy(node);
  return known && textsOf(known);
}

function alternatives(nodes: readonly ts.Expression[]): readonly string[] | undefined {
  const texts = nodes.map(textsOf);
  return texts.every((each) => each !== undefined) ? texts.flat() : undefined;
}

function textsOfTemplate({ head, templateSpans }: ts.TemplateExpression): readonly string[] {
  return templateSpans.reduce<readonly string[]>(
    (texts, { expression, literal }) =>
      texts.flatMap((text) => (textsOf(expression) ?? [VARYING]).map((part) => text + part + literal.text)),
    [head.text],
  );
}

/** Of a constant of the file, or the default of a parameter. */
function initializerOf(name: ts.Identifier): ts.Expression | undefined {
  for (const node of nodesOf(name.getSourceFile()))
    if (
      (ts.isVariableDeclaration(node) || ts.isParameter(node)) &&
      node.initializer &&
      node.name.getText() === name.text
    )
      return node.initializer;
  return undefined;
}

/** What a function of the file with one statement returns. */
function returnedBy(node: ts.Expression): ts.Expression | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const found = [...nodesOf(node.getSourceFile())].find(
    (each): each is ts.FunctionDeclaration =>
      ts.isFunctionDeclaration(each) && each.name?.text === node.expression.getText(),
  );
  const [only, ...others] = found?.body?.statements ?? [];
  return only && ts.isReturnStatement(only) && others.length === 0 ? only.expression : undefined;
}

/** Whether a line of a document has the message, with anything in place of `…`. */
export function isShown(message: string, document: string): boolean {
  const parts = message.split(VARYING);
  return document.split('\n').some((line) => {
    let end = 0;
    return parts.every((part) => {
      const start = line.indexOf(part, end);
      end = start + part.length;
      return start !== -1;
    });
  });
}
