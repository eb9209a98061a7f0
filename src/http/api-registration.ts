import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import type { ErrorFormat } from '../core/contracts/error-format.js';
import type { Resource } from '../core/schema/resource.js';
import type { Api } from '../core/schema/route.js';
import type { RestPipeline } from '../pipeline/rest-pipeline.js';
import type { UnknownEntities } from '../restify.options.js';

/** One prefix of an application, and what answers below it. */
export interface RegisteredApi {
  readonly api: Api;
  readonly pipeline: RestPipeline;
  /** By what was decorated. */
  readonly resourceOf: (entity: object) => Resource | undefined;
  readonly errorFormat: ErrorFormat;
  /** Milliseconds that half a request may stand still while the application ends. */
  readonly shutdownGrace: number;
  readonly unknownEntities: UnknownEntities;
  /** Where its index stands, below the mount; undefined where it has none. */
  readonly index: string | undefined;
  /** What a caller is told of what the application's own code has thrown: a database that is away is one, whoever has asked it. */
  readonly reported: (error: unknown) => unknown;
  readonly lateProblems: () => readonly DeclarationProblem[];
  /** Its place among the `forRoot` calls of the process: which boot ends first says nothing. */
  readonly order: number;
}
