import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A fault in the source, as a replacement of text. */
interface Fault {
  readonly name: string;
  readonly file: string;
  readonly search: string;
  readonly replacement: string;
}

/** One fault for each part of docs/contract.md whose violation the fuzzer must detect. */
const FAULTS: readonly Fault[] = [
  {
    name: 'permissions: of several grants the rows of the first hold',
    file: 'src/features/permissions/evaluate-permission.ts',
    search: 'rows: bothRows(all.rows, decision.rows),',
    replacement: "rows: all.rows === 'all' ? decision.rows : all.rows,",
  },
  {
    name: 'nested: a through object is looked for among those of all parents',
    file: 'src/pipeline/resolve-parent.ts',
    search: 'context.scope = conjunction([grantCondition, belongsTo(relation, parent)]);',
    replacement: 'context.scope = grantCondition;',
  },
  {
    name: 'pages: the offset 1 is left out of links',
    file: 'src/features/pagination/offset-pagination.ts',
    search: '[this.offsetParameter]: offset > 0 ?',
    replacement: '[this.offsetParameter]: offset > 1 ?',
  },
  {
    name: 'cursor: the previous page begins where the next one does',
    file: 'src/features/pagination/cursor-pagination.ts',
    search: 'previous: this.at(page.before, context)',
    replacement: 'previous: this.at(page.after, context)',
  },
  {
    name: 'expand: the first object of a list is left out',
    file: 'src/features/field-selection/expand-relations.ts',
    search: 'many ? objects.map(({ body }) => body)',
    replacement: 'many ? objects.slice(1).map(({ body }) => body)',
  },
  {
    name: 'limit: an expanded list has one object more',
    file: 'src/features/field-selection/expand-relations.ts',
    search: 'found.slice(0, limit)',
    replacement: 'found.slice(0, limit === undefined ? undefined : limit + 1)',
  },
  {
    name: 'query: the body of a QUERY is not read',
    file: 'src/request/query-input.ts',
    search: ': { text: body.text };',
    replacement: ": { text: '' };",
  },
  {
    name: 'bulk: one object more than the limit is written',
    file: 'src/features/bulk/batch.ts',
    search: 'if (count > max) throw InvalidInput.ofNoField(`Ensure this',
    replacement: 'if (count > max + 1) throw InvalidInput.ofNoField(`Ensure this',
  },
  {
    name: 'upsert: an object that is there is created again',
    file: 'src/features/bulk/bulk-write.stage.ts',
    search: 'const values = upsertedValues(create, bulk.upsert);',
    replacement: 'const values = upsertedValues(create, bulk.upsert) && undefined;',
  },
  {
    name: 'conditional: any tag but that of the object is 304',
    file: 'src/features/conditional-requests/validator.stages.ts',
    search: 'tags?.some(({ opaque }) => opaque === tag)',
    replacement: 'tags?.some(({ opaque }) => opaque !== tag)',
  },
  {
    name: 'idempotency: another body with the same key is the same request',
    file: 'src/features/idempotency/idempotency.stage.ts',
    search: 'digest([id, exchange.query, sorted(body)])',
    replacement: 'digest([id, exchange.query])',
  },
  {
    name: 'order of checks: Accept comes before the method',
    file: 'src/pipeline/rest-pipeline.ts',
    search: 'otherwise: rejecting((method) => new MethodNotAllowed(method)),',
    replacement:
      'otherwise: responding([negotiateFormat(resource, undefined), (context) => { throw new MethodNotAllowed(context.method); }]),',
  },
  {
    name: 'shared columns: a key changes a relation that the body does not name',
    file: 'src/adapters/typeorm/write/decide-columns.ts',
    search: 'addErrors(errors, unnamedErrors(sources, { columns, setBy }, others));',
    replacement: '',
  },
  {
    name: 'trash: an object that is not deleted is restored as if it were not there',
    file: 'src/pipeline/operations/restore.ts',
    search: 'new NotDeleted() : new NotFound();',
    replacement: 'new NotFound() : new NotFound();',
  },
  {
    name: 'aggregates: all rows count, granted or not',
    file: 'src/features/aggregates/aggregate-rows.stage.ts',
    search: 'const list = await planRowsOf(context);',
    replacement: "context.scope = { kind: 'always' }; const list = await planRowsOf(context);",
  },
  {
    name: 'json paths: texts are compared whatever the type of the value',
    file: 'src/sql/dialects/json-paths.ts',
    search: "string: `CASE ${type} WHEN 'text' THEN ${value} END`,",
    replacement: 'string: value,',
  },
  {
    name: 'nested: whoever reads objects creates them in bodies',
    file: 'src/request/plan/plan-children.ts',
    search: "isCreated ? await access.viewToWrite(target, 'POST') : undefined;",
    replacement: "isCreated ? await access.viewToWrite(target, 'GET') : undefined;",
  },
];

const COUNT = Number(process.env.RESTIFY_FUZZ_COUNT ?? 12_000);
const SEED = Number(process.env.RESTIFY_FUZZ_SEED ?? 1300);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Whether a run with the fault detects a disagreement, and its output. */
function run(fault: Fault | undefined): Promise<{ readonly isFound: boolean; readonly output: string }> {
  const program = [
    ...['--import', './test/support/typescript.mjs'],
    ...(fault ? ['--import', './test/fuzz/run/plant.mjs'] : []),
    'test/fuzz/run/main.ts',
  ];
  const flags = [`--count=${COUNT}`, '--stop=1', '--shrink=0', '--requests=200', `--seed=${SEED}`];
  const child = spawn(process.execPath, [...program, ...flags], {
    cwd: ROOT,
    env: { ...process.env, ...(fault ? { RESTIFY_FUZZ_FAULT: JSON.stringify(fault) } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pieces: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => pieces.push(piece.toString('utf8')));
  return new Promise((resolve) => {
    child.on('close', () => {
      const output = pieces.join('');
      const isPlanted = !fault || output.includes(`Planted: ${fault.name}`);
      resolve({ isFound: isPlanted && output.includes('\nDisagreement: '), output });
    });
  });
}

// A disagreement without a fault would be attributed to each of them.
const { isFound: isDirty, output: found } = await run(undefined);
if (isDirty || !/^\d+ requests in/m.test(found)) {
  console.log(found);
  throw new Error('Without a fault there must be no disagreement');
}

const names = process.argv.slice(2);
const faults = FAULTS.filter(({ name }) => names.length === 0 || names.some((each) => name.startsWith(each)));
let missed = 0;
for (const fault of faults) {
  const { isFound, output } = await run(fault);
  const requests = /^(\d+) requests in/m.exec(output)?.[1] ?? 'no';
  console.log(`${isFound ? 'found' : 'MISSED'} within ${requests} requests: ${fault.name}`);
  const first = /\nDisagreement: [\s\S]*?\n {2}\$ [^\n]*/.exec(output)?.[0] ?? output.slice(-2000);
  console.log(first.slice(0, 1200));
  if (!isFound) missed++;
}
console.log(`${faults.length - missed} of ${faults.length} planted faults are found`);
if (missed > 0) process.exitCode = 1;
