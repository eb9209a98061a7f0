import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseName } from './databases.js';
import { SQLITE_AND_POSTGRES } from './databases.js';
import { ROOT } from './root.js';
import { CHECKED, DATAUI, JSON_API, KAVO, PAGINATE, PLAIN, RESTIFY, COMMON, only } from './styles.js';
import type { Style } from './styles.js';
import { WORKLOADS } from './workloads.js';
import type { Workload } from './workloads.js';

export interface Contestant {
  readonly name: string;
  /** The path, absolute or relative to the project. */
  readonly file: string;
  readonly style: Style;
  /** The environment variables of its processes, beside those of the database. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Those that it is written for; all if there are none. */
  readonly databases?: readonly DatabaseName[];
  /** Whether it is measured only if `--servers` names it. */
  readonly extra?: true;
  /** Whether it is another package for the same task, with which this one is compared. */
  readonly rival?: true;
}

function ours(file: string, style: Style, more: Partial<Contestant> = {}): Contestant {
  return { name: file, file: `dist/bench/servers/${file}.js`, style, ...more };
}

/** Under OpenTelemetry's auto-instrumentation, one object by its key only. */
function traced(file: string, style: Style): Contestant {
  const start = pathToFileURL(join(ROOT, 'bench/start-tracing.mjs')).href;
  const environment = { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${start}`.trim() };
  return ours(file, only(style, ['retrieve']), { name: `${file}-traced`, environment });
}

const ONLY_NAMED = { extra: true } as const;
const LIMIT = { ...ONLY_NAMED, databases: SQLITE_AND_POSTGRES };
const RIVAL = { ...ONLY_NAMED, rival: true } as const;

/** Written by hand with Nest alone. */
const NEST_ONLY: readonly Workload[] = ['expanded', 'aggregate', 'parent', 'children'];
const WRITTEN_RAW = WORKLOADS.filter((workload) => !NEST_ONLY.includes(workload));

export const CONTESTANTS: readonly Contestant[] = [
  ours('restify-express', RESTIFY),
  ours('restify-fastify', RESTIFY),
  ours('handwritten', PLAIN),
  ours('handwritten-fastify', PLAIN),
  ours('handwritten', CHECKED, { name: 'handwritten-existsBy' }),
  ours('handwritten-fastify', CHECKED, { name: 'handwritten-fastify-existsBy' }),
  traced('restify-express', RESTIFY),
  traced('handwritten', PLAIN),
  ours('raw', only(PLAIN, WRITTEN_RAW)),
  ours('bare-express', only(PLAIN, COMMON), LIMIT),
  ours('bare-fastify', only(PLAIN, COMMON), LIMIT),
  ours('contract-express', only(RESTIFY, COMMON), LIMIT),
  ours('contract-fastify', only(RESTIFY, COMMON), LIMIT),
  ours('constant-express', PLAIN, ONLY_NAMED),
  ours('constant-fastify', PLAIN, ONLY_NAMED),
  { name: 'dataui-crud', file: 'bench/dist/rivals/dataui-crud.js', style: DATAUI, ...RIVAL },
  { name: 'nestjs-paginate', file: 'bench/dist/rivals/nestjs-paginate.js', style: PAGINATE, ...RIVAL },
  { name: 'kavo', file: 'bench/dist/rivals/kavo.js', style: KAVO, ...RIVAL },
  {
    name: 'json-api-nestjs',
    file: 'bench/nest-10/dist/json-api-nestjs.js',
    style: JSON_API,
    ...RIVAL,
    databases: SQLITE_AND_POSTGRES,
  },
];
