import type { RefusalLimits } from '../contracts/authentication.js';

/**
 * The limits of this package on requests, with their defaults (docs/reference/limits.md). The limits of HTTP itself are those of Node
 * and of the application.
 */

/** Limits of a list's query; the option `queryLimits` of a model or prefix overrides them. */
export interface QueryLimits {
  /** Values of one `in`, and of a custom filter's list. */
  readonly values: number;
  /** Terms of one search. */
  readonly searchTerms: number;
  /** Comparisons in the filter groups of one query. */
  readonly groupTerms: number;
  /** Steps over to-many relations in those comparisons: each is an EXISTS, which PostgreSQL may compile before it runs. */
  readonly groupRelated: number;
  /** Nesting depth of the groups, including the outermost one. */
  readonly groupDepth: number;
  /** Characters of the text of the groups. */
  readonly groupLength: number;
  /** Bytes of the body of a QUERY. */
  readonly bodyBytes: number;
  /** Values of all `in` of one QUERY. */
  readonly bodyValues: number;
  /** Groups of aggregates in a list without a pagination. */
  readonly aggregatedGroups: number;
}

export const QUERY_LIMITS: QueryLimits = {
  values: 100,
  searchTerms: 20,
  groupTerms: 30,
  groupRelated: 5,
  groupDepth: 4,
  groupLength: 2000,
  bodyBytes: 1024 * 1024,
  bodyValues: 10_000,
  aggregatedGroups: 1000,
};

/** Upper bounds of `QueryLimits`: databases limit the depth of a statement. */
export const MOST_OF_QUERY: QueryLimits = {
  values: 500,
  searchTerms: 200,
  groupTerms: 200,
  groupRelated: 20,
  groupDepth: 20,
  groupLength: 10_000,
  bodyBytes: 4 * 1024 * 1024,
  bodyValues: 10_000,
  aggregatedGroups: 10_000,
};

/** Parameters of different names in the body of a QUERY. */
export const BODY_PARAMETERS = 1000;

/** Characters of a parameter in the body of a QUERY, unless it is a list of values: as many as fit into a URL. */
export const BODY_PARAMETER_LENGTH = 8000;

/** Characters of the header `Link` in the response to a QUERY: clients limit their headers. */
export const MAX_LINK_HEADER = 8000;

/** Bytes of a body, if the application has no body parser of its own. */
export const BODY_BYTES = 100 * 1024;

/** Nesting depth of the objects and lists of a body (contract 5.3). */
export const BODY_DEPTH = 100;

/** Characters of a number; DRF's limit. */
export const NUMBER_TEXT = 1000;

/** Rows that a request with children writes: parents, children, and pairs of related keys. */
export const MAX_NESTED_WRITES = 1000;

/** Timeout in milliseconds for the acquisition of a database connection. */
export const ACQUIRE_TIMEOUT = 10_000;

/** The first number of milliseconds that is too long for a timer. */
export const LONGEST_TIMER = 2 ** 31;

/** Timeout in milliseconds for the authentication of a request. */
export const AUTHENTICATION_TIMEOUT = 10_000;

/** Failed authentications within `ttl` milliseconds, above which credentials are rejected unverified. */
export const REFUSAL_LIMITS: RefusalLimits = { perAddress: 30, perUser: 10, ttl: 60_000 };

/** Upper bounds of `RefusalLimits`: the time of each failure is held in memory. */
export const MOST_REFUSALS: RefusalLimits = { perAddress: 10_000, perUser: 10_000, ttl: 24 * 60 * 60 * 1000 };

/** Addresses whose failures are held in memory, and as many user names; the least recently used are evicted. */
export const REMEMBERED_CALLERS = 10_000;

/** Timeout in milliseconds of a reading statement, on a database server. */
export const STATEMENT_TIMEOUT = 30_000;

/** Milliseconds for which an incomplete request may be idle during shutdown. */
export const SHUTDOWN_GRACE = 5_000;

/** Calls of `afterCommit` that run at once in one application; the others wait. */
export const COMMIT_CALLS = 10;

/** Rows of a list that are read in one batch. */
export const PAGE_ROWS = 1000;

/** Characters of one batch; a long list holds a small multiple of it in memory. */
export const PAGE_CHARACTERS = 256 * 1024;

/** Default page size in rows. */
export const PAGE_SIZE = 50;

/** Maximum page size in rows: a page is held in memory as a whole. */
export const MAX_PAGE_SIZE = 100;

/** Maximum offset in rows: the database reads every skipped row. */
export const MAX_OFFSET = 10_000;

/** Rows from which a table without an index for a declared query is a warning, unless `missingIndexRows` says another number. */
export const MISSING_INDEX_ROWS = 100_000;

/** Rows up to which an estimated count is exact unless a pagination says `countUpTo`; above that it is an estimate, or stops. */
export const COUNTED_ROWS = 10_000;

/** Maximum characters of a cursor: it must fit into a URL. */
export const MAX_CURSOR = 4_000;

/** Minimum characters of the secret that encrypts cursors. */
export const MIN_SECRET = 32;

/** Maximum number of relations in a path of `expandable`. */
export const MAX_EXPANDED_DEPTH = 3;

/** Maximum number of relations that one request expands: each costs a statement for each page of rows. */
export const MAX_EXPANSIONS = 10;

/** Maximum number of objects that replace one link. */
export const MAX_EXPANDED_CHILDREN = 100;

/** Maximum number of objects in a response with expansions. */
export const MAX_EXPANDED_OBJECTS = 10_000;

/** Maximum number of related keys in one field, read or written. */
export const MAX_RELATED_KEYS = 1000;

/** Maximum number of related keys in all objects of a bulk write. */
export const MAX_BULK_KEYS = 10_000;

/** Characters of a list with expansions that are buffered before the first is sent, so that too many objects are still a 400. */
export const HELD_CHARACTERS = 1024 * 1024;

/** Field selections of a resource whose statements are cached: clients may send any number of them. */
export const MAX_SELECTED_VIEWS = 30;

/** Default maximum number of objects in a bulk write: each costs a few statements of one transaction. */
export const BULK_OBJECTS = 100;

/** Upper bound of the maximum number of objects in a bulk write. */
export const MOST_BULK_OBJECTS = 10_000;

/** Maximum number of entity tags in one `If-Match` or `If-None-Match`. */
export const MAX_ENTITY_TAGS = 100;

/** Maximum characters of one of these headers. */
export const MAX_PRECONDITION = 4_000;

/** Seconds after a modification in which its date is not sent or trusted: another modification may have the same date. */
export const MODIFIED_SETTLES = 60;

/** Maximum characters of an `Idempotency-Key`. */
export const MAX_IDEMPOTENCY_KEY = 255;

/** Default number of seconds for which a response is stored for its idempotency key. */
export const IDEMPOTENCY_LIFE = 24 * 60 * 60;

/** Upper bound of these seconds, so that every response is deleted at some time. */
export const MAX_IDEMPOTENCY_LIFE = 30 * 24 * 60 * 60;

/** Seconds after which the claim of an idempotency key expires unless it is renewed, so that another request with the key may run. */
export const CLAIM_LEASE = 60;

/** Characters of a stored response in one row: a TEXT of MariaDB holds 65,535 bytes. */
export const ANSWER_PART = 60_000;

/** Expired responses that are deleted in one batch. */
export const EXPIRED_RECORDS = 100;

/** Seconds until the next deletion of expired responses, if the last batch was not full. */
export const EXPIRY_INTERVAL = 60;

/** Seconds after which expired responses are searched from the oldest again, which others may have left behind the last ones that were deleted. */
export const EXPIRY_RESCAN_INTERVAL = 3600;
