// Lists the functions of src/ with one use and fewer than five lines, for review (CONTRIBUTING.md): such a function stands in its
// caller, unless its name says what its lines do not. Arguments are the beginnings of paths: node scripts/list-small-functions.mjs src/http
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const MOST_LINES = 4;

const root = fileURLToPath(new URL('../', import.meta.url));
const { options, fileNames } = ts.parseJsonConfigFileContent(
  { ...ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile).config, include: ['src'] },
  ts.sys,
  root,
);
const program = ts.createProgram(fileNames, options);
const checker = program.getTypeChecker();
const pathOf = ({ fileName }) => relative(root, fileName).split(sep).join('/');
const files = program.getSourceFiles().filter((file) => /^src\/.*(?<!\.spec)\.ts$/.test(pathOf(file)));

/** The functions at the top of a file, by their symbols. */
const functions = new Map();
const uses = new Map();
for (const file of files) for (const statement of file.statements) addFunctions(statement, file);
for (const file of files) ts.forEachChild(file, countUses);

const chosen = process.argv.slice(2);
const lines = [...functions]
  .filter(([symbol]) => uses.get(symbol) === 1)
  .map(([symbol, { file, node, size }]) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    return { place: `${pathOf(file)}:${line + 1}`, name: symbol.name, size };
  })
  .filter(({ place }) => chosen.length === 0 || chosen.some((start) => place.startsWith(start)))
  .map(({ place, name, size }) => `${place} ${name} (${size})`);
console.log([...lines, `${lines.length} functions`].join('\n'));

function addFunctions(statement, file) {
  for (const [node, body] of functionsIn(statement)) {
    const size = body && countLines(body, file);
    if (node.name && size <= MOST_LINES)
      functions.set(checker.getSymbolAtLocation(node.name), { file, node, size });
  }
}

/** The functions that a statement declares, each with its body. */
function functionsIn(statement) {
  if (ts.isFunctionDeclaration(statement)) return [[statement, statement.body]];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer && ts.isArrowFunction(initializer))
    .map((declaration) => [declaration, declaration.initializer.body]);
}

/** The lines of a body without its brackets, blanks and comments. */
function countLines(body, file) {
  const inner = ts.isBlock(body) ? body.statements : [body];
  const code = new Set();
  const visit = (node) => {
    if (node.getChildCount(file) === 0)
      code.add(file.getLineAndCharacterOfPosition(node.getStart(file)).line);
    else node.getChildren(file).forEach(visit);
  };
  inner.forEach(visit);
  return code.size;
}

/** Imports and exports are no uses. */
function countUses(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
  if (ts.isIdentifier(node)) {
    const symbol = symbolOf(node);
    if (functions.has(symbol) && functions.get(symbol).node.name !== node)
      uses.set(symbol, (uses.get(symbol) ?? 0) + 1);
  }
  ts.forEachChild(node, countUses);
}

function symbolOf(node) {
  const symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}
