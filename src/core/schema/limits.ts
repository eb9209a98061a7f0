import type { RefusalLimits } from '../contracts/authentication.js';

/**
 * Every limit that a request can run into and that is this package's own, with its default (docs/limits.md). Those of
 * HTTP itself are Node's and the application's.
 */

/** What one query of a list may ask for; `queryLimits` of a model or of a prefix changes it. */
export interface QueryLimits {
  /** Values of one `in`, and of a list that an own filter takes. */
  readonly values: number;
  /** Terms of one search. */
  readonly searchTerms: number;
  /** Comparisons in the groups of one query. */
  readonly groupTerms: number;
  /** Steps over to-many relations in those comparisons: each is an EXISTS, which PostgreSQL may compile before it runs. */
  readonly groupRelated: number;
  /** How deep its groups stand in one another; the outermost one counts. */
  readonly groupDepth: number;
  /** Characters of the text that holds them. */
  readonly groupLength: number;
}

export const QUERY_LIMITS: QueryLimits = {
  values: 100,
  searchTerms: 20,
  groupTerms: 30,
  groupRelated: 5,
  groupDepth: 4,
  groupLength: 2000,
};

/** More than this no limit may be: a database takes statements of a certain depth alone. */
export const MOST_OF_QUERY: QueryLimits = {
  values: 500,
  searchTerms: 200,
  groupTerms: 200,
  groupRelated: 20,
  groupDepth: 20,
  groupLength: 10_000,
};

/** Bytes of a body, where the application has no body parser of its own. */
export const BODY_BYTES = 100 * 1024;

/** Objects and lists of a body that stand in one another (contract 5.3). */
export const BODY_DEPTH = 100;

/** Characters of a number; DRF's bound. */
export const NUMBER_TEXT = 1000;

/** Milliseconds that a request waits for a connection to the database. */
export const ACQUIRE_TIMEOUT = 10_000;

/** Milliseconds that no timer takes. */
export const LONGEST_TIMER = 2 ** 31;

/** Milliseconds that the check of a request's credentials may take. */
export const AUTHENTICATION_TIMEOUT = 10_000;

/** Credentials that are refused in `ttl` milliseconds, before no more are looked at. */
export const REFUSAL_LIMITS: RefusalLimits = { perAddress: 30, perUser: 10, ttl: 60_000 };

/** More than this they may not be: the time of each refusal is remembered. */
export const MOST_REFUSALS: RefusalLimits = { perAddress: 10_000, perUser: 10_000, ttl: 24 * 60 * 60 * 1000 };

/** Addresses whose refusals are remembered, and as many user names; of more, those are forgotten that have been quiet the longest. */
export const REMEMBERED_CALLERS = 10_000;

/** Milliseconds that a statement may read, on a server. */
export const STATEMENT_TIMEOUT = 30_000;

/** Milliseconds that half a request may stand still while the application ends. */
export const SHUTDOWN_GRACE = 5_000;

/** Rows of a list that are read at once. */
export const PAGE_ROWS = 1000;

/** Characters of them: as many as a long list holds in memory a few times over. */
export const PAGE_CHARACTERS = 256 * 1024;

/** Rows of a page for which the client names no number. */
export const PAGE_SIZE = 50;

/** Rows that a client may ask for in one page: a page is held in memory as a whole. */
export const MAX_PAGE_SIZE = 100;

/** Rows that a page may leave out before it begins: the database reads every one of them. */
export const MAX_OFFSET = 10_000;

/** Rows up to which an estimated count is exact; behind them it is an estimate, or ends. */
export const COUNTED_ROWS = 10_000;

/** Characters of a cursor: it has to fit into a URL. */
export const MAX_CURSOR = 4_000;

/** Characters of a secret that cursors are sealed with. */
export const MIN_SECRET = 32;

/** Relations in a row that a path of `expandable` may go over. */
export const MAX_EXPANDED_DEPTH = 3;

/** Relations that one request may expand: each is a statement for each page of rows. */
export const MAX_EXPANSIONS = 10;

/** Objects that stand in the place of one link. */
export const MAX_EXPANDED_CHILDREN = 100;

/** Objects of an answer with expansions. */
export const MAX_EXPANDED_OBJECTS = 10_000;

/** Characters of a list with expansions that are held back, so that too many objects are still an ordinary error. */
export const HELD_CHARACTERS = 1024 * 1024;

/** Choices of fields for which a resource keeps its statements: clients may make up any number. */
export const KEPT_CHOICES = 30;

/** Objects that one request may write, where a model lets it write many: each is a few statements of one transaction. */
export const BULK_OBJECTS = 100;

/** More than this a model may not let it write. */
export const MOST_BULK_OBJECTS = 10_000;

/** Entity tags in one `If-Match` or `If-None-Match`. */
export const MAX_ENTITY_TAGS = 100;

/** Characters of one of these headers. */
export const MAX_PRECONDITION = 4_000;

/** Seconds for which the date of a change is not told, nor taken for exact: another change may follow with the same one. */
export const MODIFIED_SETTLES = 60;

/** Characters of an `Idempotency-Key`. */
export const MAX_IDEMPOTENCY_KEY = 255;

/** Seconds for which an answer is kept for the key with which it was asked for. */
export const IDEMPOTENCY_LIFE = 24 * 60 * 60;

/** More than this it may not be: what ends never is never removed. */
export const MAX_IDEMPOTENCY_LIFE = 30 * 24 * 60 * 60;

/** Seconds after which a request that has said nothing of itself is taken for dead, and another one with its key may run. */
export const CLAIM_LEASE = 60;

/** Characters of an answer in one row: a TEXT of MariaDB holds 65,535 bytes. */
export const ANSWER_PART = 60_000;

/** Answers whose time is over that are removed at once. */
export const ENDED_ANSWERS = 100;

/** Seconds after which a process looks for them again, where it has found all of them. */
export const ENDED_EVERY = 60;
