import type { SQLITE_AND_POSTGRES } from '../databases.js';
import type { Json } from '../styles.js';
import type { Random } from './random.js';
import { basicHeader, bearerHeader } from './users.js';
import type { User } from './users.js';

export type MeasuredDatabase = (typeof SQLITE_AND_POSTGRES)[number];

/** The plain model, each option alone, and a model with many options, by this package and hand-written. */
export const VARIANT_NAMES = [
  'plain',
  'page-number',
  'page-number-headers',
  'limit-offset',
  'limit-offset-headers',
  'cursor',
  'cursor-headers',
  'json-server',
  'filter-fields',
  'search',
  'default-order',
  'field-selection',
  'row-grants',
  'basic',
  'bearer',
  'timestamptz',
  'datetime',
  'decimal',
  'uuid-column',
  'uuid-key',
  'enum',
  'boolean',
  'nullable',
  'json',
  'updated-at',
  'version-etag',
  'class-validator',
  'subscriber',
  'typical-basic',
  'typical-basic-by-hand',
  'typical-basic-limit',
  'typical-bearer',
  'typical-bearer-by-hand',
] as const;
export type VariantName = (typeof VARIANT_NAMES)[number];

type SqlTypes = Readonly<Record<MeasuredDatabase, string>>;

/** The column that replaces the text column `extra` of the plain model. */
interface ExtraColumn {
  readonly type: SqlTypes;
  value(random: Random): Json;
}

export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  /** Default: both. */
  readonly databases?: readonly MeasuredDatabase[];
  readonly extra?: ExtraColumn;
  readonly uuidKey?: true;
  /** Columns in addition to those of the plain model, filled by their defaults. */
  readonly added?: SqlTypes;
  /** Query of a list of the rows of one user: 100 rows, or a page of 100. */
  list(user: User, word: string): string;
  /** Whether the rows of one user are two full pages and a partial one, and every second list request follows the link to the next page. */
  readonly paged?: true;
  /** The query of requests for one object. Default: none. */
  readonly retrieve?: string;
  /** The header that identifies the user. Default: none, every client is anonymous. */
  headers?(user: User): Readonly<Record<string, string>>;
  /** Whether changes send `If-Match` with the last entity tag of the object. */
  readonly etag?: true;
  /** Whether rows are not in the order of the key. */
  readonly ordered?: true;
  /** The server, if it is not this package. Its URLs are those of the hand-written controller. */
  readonly server?: 'by-hand' | 'limit';
}

const owned = ({ id }: User): string => `owner=${id}`;
const TEXT = { sqlite: 'varchar(40)', postgres: 'varchar(40)' };
const INSTANT_COLUMN = {
  type: { sqlite: 'datetime', postgres: 'timestamp' },
  value: (random: Random) => random.instant(),
};
const UPDATED_AT = {
  sqlite: "updated_at datetime NOT NULL DEFAULT (datetime('now'))",
  postgres: 'updated_at timestamp NOT NULL DEFAULT now()',
};

/** The condition of each filter is true for all rows, so that pages are as long as those of the other variants. */
const FIVE_FILTERS = (_: User, word: string): string =>
  `rating__gte=0&rating__lte=1000&code__startswith=C&title__icontains=${encodeURIComponent(word)}&updated_at__gte=2015-01-01T00:00:00Z`;

const TYPICAL = { added: UPDATED_AT, paged: true, list: FIVE_FILTERS } as const;
const withBasic = (user: User): Record<string, string> => ({ authorization: basicHeader(user) });
const withBearer = (user: User): Record<string, string> => ({ authorization: bearerHeader(user) });

const PAGED = { paged: true, list: owned } as const;

const ALL: Readonly<Record<VariantName, Omit<Variant, 'name'>>> = {
  plain: { title: 'plain model', list: owned },
  'page-number': { title: '`PageNumberPagination`', ...PAGED },
  'page-number-headers': { title: '`PageNumberPagination`, headers', ...PAGED },
  'limit-offset': { title: '`LimitOffsetPagination`', ...PAGED },
  'limit-offset-headers': { title: '`LimitOffsetPagination`, headers', ...PAGED },
  cursor: { title: '`CursorPagination`', ...PAGED },
  'cursor-headers': { title: '`CursorPagination`, headers', ...PAGED },
  'json-server': {
    title: '`JsonServerPagination`',
    paged: true,
    list: (user) => `${owned(user)}&_start=0&_end=100`,
  },
  'filter-fields': {
    title: '`filterFields`, three filters',
    list: (user) => `${owned(user)}&rating__gte=0&code__startswith=C`,
  },
  search: {
    title: '`searchFields`',
    list: (user, word) => `${owned(user)}&search=${encodeURIComponent(word)}`,
  },
  'default-order': { title: '`ordering`, a default order', list: owned, ordered: true },
  'field-selection': {
    title: '`shape`, three fields selected',
    list: (user) => `${owned(user)}&fields=id,title,rating`,
    retrieve: '?fields=id,title,rating',
  },
  'row-grants': {
    title: '`permissions` with row grants',
    list: () => '',
    headers: ({ id }) => ({ 'x-user': String(id) }),
  },
  basic: { title: '`IsAuthenticated`, Basic', list: owned, headers: withBasic },
  bearer: { title: '`IsAuthenticated`, a guard for bearer tokens', list: owned, headers: withBearer },
  timestamptz: {
    title: '`timestamptz` column',
    databases: ['postgres'],
    list: owned,
    extra: { ...INSTANT_COLUMN, type: { sqlite: 'datetime', postgres: 'timestamptz' } },
  },
  datetime: { title: '`datetime` (`timestamp`) column', list: owned, extra: INSTANT_COLUMN },
  decimal: {
    title: '`decimal` column',
    list: owned,
    extra: {
      type: { sqlite: 'decimal(10,2)', postgres: 'decimal(10,2)' },
      value: (random) => `${random.integer(0, 99_999)}.${String(random.integer(0, 99)).padStart(2, '0')}`,
    },
  },
  'uuid-column': {
    title: '`uuid` column',
    list: owned,
    extra: { type: { sqlite: 'varchar', postgres: 'uuid' }, value: (random) => random.uuid() },
  },
  'uuid-key': { title: '`uuid` primary key', list: owned, uuidKey: true },
  enum: {
    title: 'enum column',
    list: owned,
    extra: {
      type: { sqlite: "varchar CHECK (extra IN ('draft', 'open', 'closed'))", postgres: '@item_state' },
      value: (random) => random.pick(['draft', 'open', 'closed']),
    },
  },
  boolean: {
    title: 'boolean column',
    list: owned,
    extra: {
      type: { sqlite: 'boolean', postgres: 'boolean' },
      value: (random) => random.next() < 0.5,
    },
  },
  nullable: {
    title: 'nullable column, a third null',
    list: owned,
    extra: {
      type: TEXT,
      value: (random) => (random.next() < 1 / 3 ? null : random.words(1, 2).slice(0, 40)),
    },
  },
  json: {
    title: 'JSON column',
    list: owned,
    extra: {
      type: { sqlite: 'text', postgres: 'jsonb' },
      value: (random) => ({
        color: random.word(),
        size: random.integer(1, 60),
        tags: Array.from({ length: random.integer(0, 3) }, () => random.word()),
      }),
    },
  },
  'updated-at': { title: '`updated_at` (`@UpdateDateColumn`)', list: owned, added: UPDATED_AT },
  'version-etag': {
    title: '`@VersionColumn`, `conditional`, `If-Match`',
    list: owned,
    etag: true,
    added: { sqlite: 'version integer NOT NULL DEFAULT 1', postgres: 'version integer NOT NULL DEFAULT 1' },
  },
  'class-validator': { title: 'a class-validator rule', list: owned },
  subscriber: { title: 'a subscriber to another entity', list: owned },
  'typical-basic': { title: 'typical model, Basic', ...TYPICAL, headers: withBasic },
  'typical-basic-by-hand': {
    title: 'the same by hand, Basic',
    ...TYPICAL,
    headers: withBasic,
    server: 'by-hand',
  },
  'typical-basic-limit': {
    title: 'the limit, Basic',
    ...TYPICAL,
    headers: withBasic,
    server: 'limit',
  },
  'typical-bearer': { title: 'typical model, bearer token', ...TYPICAL, headers: withBearer },
  'typical-bearer-by-hand': {
    title: 'the same by hand, bearer token',
    ...TYPICAL,
    headers: withBearer,
    server: 'by-hand',
  },
};

export function variantOf(name: VariantName): Variant {
  return { name, ...ALL[name] };
}

/** The types of `extra` in the plain model. */
export const PLAIN_EXTRA: ExtraColumn = {
  type: TEXT,
  value: (random) => random.words(1, 3).slice(0, 40).trim(),
};
