import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT } from './document.js';
import { isShown, nodesOf, parseSource, textsOf } from './message-texts.js';

/** A message of a `DeclarationError`, with `…` for what varies. */
export interface StartMessage {
  readonly what: string;
  /** Empty if it depends on the declaration, or on the place. */
  readonly repair: string;
}

/** Functions of these files whose second argument is a message, and whose third is its repair; and what precedes that message. */
const RULES = 'src/compiler/rules/';
const MAKERS: Readonly<Record<string, string>> = { problem: '', check: '', kindOf: '… is ', listOf: '… is ' };

/** Parts of the message `… has …, which requests to … would bypass`. */
const PARTS = new Set(['operations that … replaces', 'URLs that ….… replaces']);

const DID_YOU_MEAN = 'Did you mean "…"?';

/** All messages of the source, and the places whose message is not in the same file. */
export function collectStartMessages(): {
  readonly messages: readonly StartMessage[];
  readonly unread: readonly string[];
} {
  const messages = new Map<string, StartMessage>();
  const unread: string[] = [];
  for (const { what, repair, prefix } of sourceFiles().flatMap(placesIn)) {
    const texts = textsOf(what);
    if (!texts) unread.push(`${what.getSourceFile().fileName}: ${what.getText()}`);
    for (const text of texts ?? [])
      if (!PARTS.has(text) && text !== '') addMessage(messages, prefix + text, repairOf(repair));
  }
  return { messages: [...messages.values()], unread };
}

function placesIn(path: string): readonly Found[] {
  return [...nodesOf(parseSource(path))].flatMap(messageIn);
}

function addMessage(messages: Map<string, StartMessage>, what: string, repair: string): void {
  const known = messages.get(what);
  messages.set(what, { what, repair: known === undefined || known.repair === repair ? repair : '' });
}

function sourceFiles(): readonly string[] {
  const files = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => `src/${name}`)
    .sort();
}

interface Found {
  readonly what: ts.Expression;
  readonly repair: ts.Expression;
  readonly prefix: string;
}

function messageIn(node: ts.Node): readonly Found[] {
  if (ts.isObjectLiteralExpression(node)) {
    const [what, repair] = [member(node, 'what'), member(node, 'repair')];
    return what && repair ? [{ what, repair, prefix: '' }] : [];
  }
  if (!ts.isCallExpression(node) || !node.getSourceFile().fileName.startsWith(RULES)) return [];
  const prefix = MAKERS[node.expression.getText()];
  const [, what, repair] = node.arguments;
  return prefix !== undefined && what && repair ? [{ what, repair, prefix }] : [];
}

function member(node: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  const found = node.properties.find((each) => each.name?.getText() === name);
  if (found && ts.isShorthandPropertyAssignment(found)) return found.name;
  return found && ts.isPropertyAssignment(found) ? found.initializer : undefined;
}

function repairOf(node: ts.Expression): string {
  if (ts.isCallExpression(node) && node.expression.getText() === 'didYouMean') return DID_YOU_MEAN;
  const texts = textsOf(node) ?? [];
  const [text = '', ...others] = texts;
  return others.length === 0 && /\w/.test(text) ? text : '';
}

/** The messages without an example on the page, the head first. */
export function messagesWithoutExample(page: string): readonly (readonly string[])[] {
  const rows = collectStartMessages().messages.filter(({ what }) => !isShown(what, page));
  return [['message', 'what to do'], ...rows.map(({ what, repair }) => [toCode(what), toCode(repair)])];
}

function toCode(text: string): string {
  if (text === '') return '';
  const escaped = text.replaceAll('|', '\\|');
  return escaped.includes('`') ? `\`\` ${escaped} \`\`` : `\`${escaped}\``;
}
