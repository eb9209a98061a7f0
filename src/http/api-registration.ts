import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import type { ErrorFormat, ErrorListener } from '../core/contracts/errors.js';
import type { MissingIndex } from '../core/contracts/missing-index.js';
import type { Resource } from '../core/schema/resource.js';
import type { Api } from '../core/schema/route.js';
import type { ApplicationOperations } from '../pipeline/application-operations.js';
import type { RestPipeline } from '../pipeline/rest-pipeline.js';
import type { BrowsablePage } from './browsable/browsable-page.js';
import type { UnknownEntities } from '../restify.options.js';

/** One prefix of an application, and what is served below it. */
export interface RegisteredApi {
  readonly api: Api;
  readonly pipeline: RestPipeline;
  /** What the code of the application calls. */
  readonly operations: ApplicationOperations;
  /** Resolves a resource by its decorated class. */
  readonly resourceOf: (entity: object) => Resource | undefined;
  readonly errorFormat: ErrorFormat;
  /** The option `onError`. */
  readonly errorListener: ErrorListener | undefined;
  /** The shutdown grace period in milliseconds, for which a half-received request may make no progress. */
  readonly shutdownGrace: number;
  readonly unknownEntities: UnknownEntities;
  /** Finds the indexes that its models need, on tables with at least so many rows. */
  readonly findMissingIndexes: (rows: number) => Promise<readonly MissingIndex[]>;
  /** The rows of tables whose missing indexes are logged; undefined if none are. */
  readonly missingIndexRows: number | undefined;
  /** The path of the prefix's index, below the mount; undefined if it has none. */
  readonly index: string | undefined;
  /** The page that a browser gets for a generated URL; undefined without the option `browsable`. */
  readonly page: BrowsablePage | undefined;
  /** Maps an error of the application's own code: an unavailable database becomes a 503 wherever it was queried. */
  readonly mapError: (error: unknown) => unknown;
  /** Sentences about models that no caller may use in an application without guards and middleware. */
  readonly findUnauthenticated: () => readonly string[];
  readonly findDeferredProblems: () => readonly DeclarationProblem[];
  /** The position among the `forRoot` calls of the process, because the order in which boots end is arbitrary. */
  readonly order: number;
}
