import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { leaveServerCore } from './cores.js';
import { SQLITE_AND_POSTGRES, openDatabase } from './databases.js';
import type { BenchDatabase } from './databases.js';
import { loadRequests } from './load.js';
import { machineLine } from './machine.js';
import { measureVariant } from './model-options/measure.js';
import type { MeasureOptions, Participant, VariantRun } from './model-options/measure.js';
import { reportOf } from './model-options/report.js';
import { ItemRequests } from './model-options/requests.js';
import { sequence } from './model-options/sequence.js';
import { createItems, createParents, removeCreated } from './model-options/tables.js';
import { VARIANT_NAMES, variantOf } from './model-options/variants.js';
import type { MeasuredDatabase, VariantName } from './model-options/variants.js';
import { chooseFrom, positive } from './options.js';
import { startServer } from './server-process.js';

const SERVER = 'dist/bench/servers/model-options.js';
const PLATFORMS = ['express', 'fastify'] as const;
type Platform = (typeof PLATFORMS)[number];
const REFERENCE = 'item_reference';
/** Warm-up of the reference server, which lives as long as the run. */
const REFERENCE_REQUESTS = 12_000;

interface Setting {
  readonly database: BenchDatabase<MeasuredDatabase>;
  readonly platform: Platform;
}

/** A server of one variant with its own table. */
async function startVariant(
  { database, platform }: Setting,
  name: VariantName,
  table: string,
): Promise<Participant> {
  const requests = new ItemRequests(variantOf(name));
  await createItems(database, { variant: requests.variant, table, items: requests.items });
  const server = await startServer(SERVER, {
    ...database.environment,
    BENCH_VARIANT: name,
    BENCH_ITEM_TABLE: table,
    BENCH_PLATFORM: platform,
  });
  return { server, requests };
}

async function measureAll(
  setting: Setting,
  names: readonly VariantName[],
  { options, runs }: { readonly options: MeasureOptions; readonly runs: VariantRun[] },
): Promise<void> {
  const { database, platform } = setting;
  const reference = await startVariant(setting, 'plain', REFERENCE);
  try {
    await loadRequests(reference.server.port, REFERENCE_REQUESTS, reference.requests.mixed(true));
    for (const [at, name] of sequence(names).entries()) {
      console.error(`${database.name}, ${platform}: ${name}`);
      const table = `item_${at}`;
      const participant = await startVariant(setting, name, table);
      try {
        runs.push(await measureVariant(reference, participant, options));
      } finally {
        await participant.server.stop();
      }
      await database.run(`DROP TABLE @${table}`);
      await removeCreated(database, REFERENCE);
    }
  } finally {
    await reference.server.stop();
  }
  await database.run(`DROP TABLE @${REFERENCE}`);
}

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    platform: { type: 'string', default: 'express' },
    variants: { type: 'string' },
    turns: { type: 'string', default: '5' },
    settle: { type: 'string', default: '4000' },
    out: { type: 'string' },
    json: { type: 'string' },
  },
});
const options: MeasureOptions = {
  turns: positive(values.turns, 'turns'),
  settle: positive(values.settle, 'settle'),
};
leaveServerCore();

/** One database and platform, with the measurements so far. */
interface Combination {
  readonly title: string;
  readonly runs: VariantRun[];
}
const combinations: Combination[] = [];

function report(): string {
  const sections = combinations.filter(({ runs }) => runs.length > 0);
  return [
    `${machineLine()}\n${options.turns} turns of each variant with the reference server; ${options.settle} requests of warm-up.\n`,
    ...sections.map(({ title, runs }) => reportOf(title, runs)),
  ].join('\n');
}

/** Writes the files after each combination, so that a later failure loses nothing. */
function saveReport(): void {
  if (values.out !== undefined) writeFileSync(values.out, report());
  const figures = { machine: machineLine(), combinations };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
}

function printReport(): void {
  console.log(report());
  saveReport();
}

for (const databaseName of chooseFrom(SQLITE_AND_POSTGRES, values.database, 'database')) {
  const names = chooseFrom(VARIANT_NAMES, values.variants, 'variants').filter(
    (name) => variantOf(name).databases?.includes(databaseName) ?? true,
  );
  const database = await openDatabase(databaseName);
  const interrupted = (): void => {
    console.error('Interrupted: the report has what is measured so far.');
    printReport();
    void database.drop().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await createParents(database);
    for (const platform of chooseFrom(PLATFORMS, values.platform, 'platform')) {
      const runs: VariantRun[] = [];
      combinations.push({ title: `${database.version.replace(/ \(.*/, '')}, ${platform}`, runs });
      await measureAll({ database, platform }, names, { options, runs });
      saveReport();
    }
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await database.drop();
  }
}
printReport();
process.exit(0);
