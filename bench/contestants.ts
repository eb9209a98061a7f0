import { DATAUI, JSON_API, KAVO, PAGINATE, PLAIN, RESTIFY } from './styles.js';
import type { Style } from './styles.js';

export interface Contestant {
  readonly name: string;
  /** The path, absolute or relative to the project. */
  readonly file: string;
  readonly style: Style;
  /** Whether it is another package for the same task, with which this one is compared. */
  readonly rival?: true;
}

export const CONTESTANTS: readonly Contestant[] = [
  { name: 'restify-express', file: 'dist/bench/servers/restify-express.js', style: RESTIFY },
  { name: 'restify-fastify', file: 'dist/bench/servers/restify-fastify.js', style: RESTIFY },
  { name: 'handwritten', file: 'dist/bench/servers/handwritten.js', style: PLAIN },
  { name: 'handwritten-fastify', file: 'dist/bench/servers/handwritten-fastify.js', style: PLAIN },
  { name: 'raw', file: 'dist/bench/servers/raw.js', style: PLAIN },
  { name: 'bare-express', file: 'dist/bench/servers/bare-express.js', style: PLAIN },
  { name: 'bare-fastify', file: 'dist/bench/servers/bare-fastify.js', style: PLAIN },
  { name: 'contract-express', file: 'dist/bench/servers/contract-express.js', style: RESTIFY },
  { name: 'contract-fastify', file: 'dist/bench/servers/contract-fastify.js', style: RESTIFY },
  { name: 'constant-express', file: 'dist/bench/servers/constant-express.js', style: PLAIN },
  { name: 'constant-fastify', file: 'dist/bench/servers/constant-fastify.js', style: PLAIN },
  { name: 'dataui-crud', file: 'bench/dist/rivals/dataui-crud.js', style: DATAUI, rival: true },
  { name: 'nestjs-paginate', file: 'bench/dist/rivals/nestjs-paginate.js', style: PAGINATE, rival: true },
  { name: 'kavo', file: 'bench/dist/rivals/kavo.js', style: KAVO, rival: true },
  { name: 'json-api-nestjs', file: 'bench/nest-10/dist/json-api-nestjs.js', style: JSON_API, rival: true },
];
