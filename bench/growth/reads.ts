import { documentSql } from './documents.js';
import { PAGE, TENANT } from './entities.js';
import { LARGE_ORDER } from './fill-tables.js';
import type { GrowthDatabase } from './fill-tables.js';

/** What is requested, and of which tenant. */
export interface GrowthRequest {
  readonly path: string;
  readonly tenant?: number;
}

export interface Filled {
  readonly database: GrowthDatabase;
  /** The number of orders. */
  readonly size: number;
}

export interface GrowthRead extends GrowthRequest {
  readonly what: string;
  readonly index: string;
  /** The statement by hand for the same rows. */
  readonly sql: (filled: Filled) => string;
  /** A page whose link `next` is requested in the place of `path`, without its filters. */
  readonly pageBefore?: (filled: Filled) => string;
  /** The same read with another value, which many rows have where the values are not unique. */
  readonly other?: Partial<GrowthRequest>;
  /** Whether its cost grows with the table, by hand too. */
  readonly grows?: true;
  /** The databases that it is measured on. Default: all. */
  readonly only?: readonly GrowthDatabase[];
  /** What it may read beyond twice the cost by hand and 8, for a reason. */
  readonly more?: (filled: Filled) => number;
}

const ORDERS = 'SELECT o.id, o.number, o.state, o.meta, o.customer_id FROM growth_order o';
const LINES = 'SELECT l.id, l.order_id, l.product FROM growth_line l';
const CUSTOMERS = 'SELECT c.id, c.tenant, c.name FROM growth_customer c';
const JOIN_CUSTOMER = 'JOIN growth_customer c ON c.id = o.customer_id';
const FIRST = `LIMIT ${PAGE + 1}`;
const PARENT = '(SELECT count(*) FROM growth_order o WHERE o.id = 77)';

const [ORDER, OWN, LINE, CUSTOMER] = ['order', 'own', 'line', 'customer'].map(
  (model) => `/rest/v1/growth/${model}/`,
) as [string, string, string, string];

/** The reasons for `more`. */
const more = {
  /** A list without pagination is read by a statement for each 1,000 rows. */
  ofPages: ({ size }: Filled) => (8 * 2 * size) / 1000,
  /** TypeORM loads the entities of a page by their keys. */
  ofEntities: () => 3 * PAGE,
  /** PostgreSQL joins the rows of the page again. SQLite first looks for rows without a related one, because a foreign key of its may refer to none. */
  ofJoin: ({ database, size }: Filled) => (database === 'sqlite' ? 9 * size : 3 * PAGE),
};

function sqlOfCursorPage(database: GrowthDatabase, id: number): string {
  const order = `ORDER BY o.state, o.id ${FIRST}`;
  switch (database) {
    case 'postgres':
      return `${ORDERS} WHERE (o.state, o.id) > (0, ${id}) ${order}`;
    case 'mariadb':
      return `${ORDERS} WHERE o.state > 0 OR (o.state = 0 AND o.id > ${id}) ${order}`;
    case 'sqlite':
      return `SELECT * FROM (${ORDERS} WHERE o.state = 0 AND o.id > ${id} ${order}) UNION ALL SELECT * FROM (${ORDERS} WHERE o.state > 0 ${order}) ${FIRST}`;
    default:
      return database satisfies never;
  }
}

export const READS: readonly GrowthRead[] = [
  {
    what: 'one object',
    index: 'key',
    path: `${ORDER}77/`,
    other: { path: `${ORDER}${LARGE_ORDER}/` },
    sql: () => `${ORDERS} WHERE o.id = 77`,
  },
  {
    what: 'one object, granted by its tenant',
    index: 'key',
    path: `${OWN}77/`,
    other: { path: `${OWN}${LARGE_ORDER}/` },
    sql: () =>
      `SELECT o.id, o.customer_id FROM growth_order o ${JOIN_CUSTOMER} WHERE o.id = 77 AND c.tenant = 1`,
  },
  {
    what: 'list',
    index: 'key',
    path: ORDER,
    sql: () => `${ORDERS} ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'list ordered by a column',
    index: 'column and key',
    path: `${ORDER}?ordering=state`,
    sql: () => `${ORDERS} ORDER BY o.state, o.id ${FIRST}`,
  },
  {
    what: 'the same, descending',
    index: 'column and key',
    path: `${ORDER}?ordering=-state`,
    sql: () => `${ORDERS} ORDER BY o.state DESC, o.id DESC ${FIRST}`,
  },
  {
    what: 'list ordered by a column of a related object',
    index: 'column, and foreign key',
    path: `${ORDER}?ordering=customer__name`,
    sql: () => `${ORDERS} ${JOIN_CUSTOMER} ORDER BY c.name, o.id ${FIRST}`,
    more: more.ofJoin,
  },
  {
    what: 'filter by several keys',
    index: 'key',
    path: `${ORDER}?id__in=5,500,5000`,
    sql: () => `${ORDERS} WHERE o.id IN (5, 500, 5000) ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'filter by a range',
    index: 'column',
    path: `${ORDER}?number__range=900,910`,
    other: { path: `${ORDER}?number__range=900,9000` },
    sql: () => `${ORDERS} WHERE o.number BETWEEN 900 AND 910 ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'filter by a foreign key',
    index: 'foreign key',
    path: `${ORDER}?customer=7`,
    other: { path: `${ORDER}?customer=1` },
    sql: () => `${ORDERS} WHERE o.customer_id = 7 ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'filter by a column of a related object',
    index: 'column, and foreign key',
    path: `${ORDER}?customer__name=c7`,
    other: { path: `${ORDER}?customer__name=z1` },
    sql: () => `${ORDERS} ${JOIN_CUSTOMER} WHERE c.name = 'c7' ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'the same over two relations',
    index: 'column, and foreign keys',
    path: `${LINE}?order__customer__name=c7`,
    sql: () =>
      `${LINES} JOIN growth_order o ON o.id = l.order_id ${JOIN_CUSTOMER} WHERE c.name = 'c7' ORDER BY l.id ${FIRST}`,
  },
  {
    what: 'filter over a one-to-many',
    index: 'column of the many',
    path: `${ORDER}?lines__product=5`,
    other: { path: `${ORDER}?lines__product=1` },
    sql: () =>
      `${ORDERS} WHERE o.id IN (SELECT l.order_id FROM growth_line l WHERE l.product = 5) ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'its negation',
    index: 'key, and foreign key of the many',
    path: `${ORDER}?filter=not(lines__product=5)`,
    sql: () =>
      `${ORDERS} WHERE NOT EXISTS (SELECT 1 FROM growth_line l WHERE l.order_id = o.id AND l.product = 5) ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'filter over a many-to-many',
    index: 'join table',
    path: `${ORDER}?tags=5`,
    other: { path: `${ORDER}?tags=1` },
    sql: () =>
      `${ORDERS} WHERE o.id IN (SELECT t.order_id FROM growth_tagging t WHERE t.tag_id = 5) ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'list granted by a tenant',
    index: 'column, and foreign key',
    path: OWN,
    tenant: TENANT.small,
    other: { tenant: TENANT.large },
    sql: () =>
      `SELECT o.id, o.customer_id FROM growth_order o ${JOIN_CUSTOMER} WHERE c.tenant = ${TENANT.small} ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'two expansions of a list',
    index: 'foreign keys',
    path: `${ORDER}?customer=7&expand=customer,lines`,
    // An expansion contains at most 100 lines of each order.
    sql: () =>
      `SELECT r.*, c.name FROM (SELECT o.id AS order_id, o.state, o.customer_id, l.id, l.product, row_number() OVER (PARTITION BY l.order_id ORDER BY l.id) AS place FROM growth_order o JOIN growth_line l ON l.order_id = o.id WHERE o.customer_id = 7) r JOIN growth_customer c ON c.id = r.customer_id WHERE r.place <= 101 ORDER BY r.place`,
  },
  {
    what: 'expansion of a list with a filter, an order and a limit',
    index: 'foreign keys',
    path: `${ORDER}?customer=7&expand=lines&lines.product__gte=2&lines.ordering=-product&lines.limit=3`,
    other: {
      path: `${ORDER}?customer=1&expand=lines&lines.product__gte=1&lines.ordering=-product&lines.limit=3`,
    },
    sql: () =>
      `SELECT * FROM (SELECT o.id AS order_id, o.state, o.customer_id, l.id, l.product, row_number() OVER (PARTITION BY l.order_id ORDER BY l.product DESC, l.id DESC) AS place FROM growth_order o JOIN growth_line l ON l.order_id = o.id WHERE o.customer_id = 7 AND l.product >= 2) r WHERE r.place <= 4 ORDER BY r.place`,
  },
  {
    what: 'counts of the related objects of a list',
    index: 'foreign keys',
    path: `${ORDER}?customer=7&with=counts`,
    other: { path: `${ORDER}?customer=1&with=counts` },
    sql: () =>
      `SELECT o.id, o.number, o.state, o.meta, o.customer_id, (SELECT count(*) FROM growth_line l WHERE l.order_id = o.id) FROM growth_order o WHERE o.customer_id = 7 ORDER BY o.id ${FIRST}`,
  },
  {
    what: 'nested list',
    index: 'foreign key',
    path: `${ORDER}77/lines/`,
    other: { path: `${ORDER}${LARGE_ORDER}/lines/` },
    sql: () =>
      `SELECT l.id, l.product, ${PARENT} FROM growth_line l WHERE l.order_id = 77 ORDER BY l.id ${FIRST}`,
  },
  {
    what: 'through objects',
    index: 'join table',
    path: `${ORDER}77/tags/`,
    sql: () =>
      `SELECT t.tag_id, ${PARENT} FROM growth_tagging t JOIN growth_tag g ON g.id = t.tag_id WHERE t.order_id = 77 ORDER BY t.tag_id`,
  },
  {
    what: 'cursor page far inside',
    index: 'column and key',
    path: `${ORDER}?ordering=state`,
    pageBefore: ({ size }) => `${ORDER}?ordering=state&page_size=1&id__gte=${size / 2}`,
    sql: ({ database, size }) => sqlOfCursorPage(database, size / 2),
  },
  {
    what: 'page at the offset 1,000',
    index: 'key',
    path: `${LINE}?offset=1000`,
    sql: () => `${LINES} ORDER BY l.id ${FIRST} OFFSET 1000`,
  },
  {
    what: 'page with the count of a filter',
    index: 'column and key',
    path: `${LINE}?product=5&count=exact`,
    sql: () =>
      `SELECT l.id, l.order_id, l.product, (SELECT count(*) FROM growth_line WHERE product = 5) FROM growth_line l WHERE l.product = 5 ORDER BY l.id ${FIRST}`,
  },
  {
    what: 'entities of TypeORM (a computed field)',
    index: 'key',
    path: '/rest/v1/growth/greeted/',
    sql: () => `${CUSTOMERS} ORDER BY c.id ${FIRST}`,
    more: more.ofEntities,
  },
  {
    what: 'page with the count of all rows',
    index: 'key',
    path: `${LINE}?count=exact`,
    grows: true,
    sql: () =>
      `SELECT l.id, l.order_id, l.product, (SELECT count(*) FROM growth_line) FROM growth_line l ORDER BY l.id ${FIRST}`,
  },
  {
    what: 'page with an estimated count',
    index: 'key',
    path: `${LINE}?count=estimated`,
    sql: () =>
      `SELECT l.id, l.order_id, l.product, (SELECT count(*) FROM (SELECT 1 FROM growth_line LIMIT 10001) n) FROM growth_line l ORDER BY l.id ${FIRST}`,
  },
  {
    what: 'search',
    index: 'none',
    path: `${CUSTOMER}?search=c77`,
    grows: true,
    sql: ({ database }) =>
      `${CUSTOMERS} WHERE c.name ${database === 'postgres' ? 'ILIKE' : 'LIKE'} '%c77%' ORDER BY c.id ${FIRST}`,
  },
  {
    what: 'all rows, without pagination',
    index: 'key',
    path: '/rest/v1/growth/every/',
    grows: true,
    sql: () => `${LINES} ORDER BY l.id`,
    more: more.ofPages,
  },
  {
    what: 'all rows ordered by a column',
    index: 'column and key',
    path: '/rest/v1/growth/every/?ordering=product',
    grows: true,
    sql: () => `${LINES} ORDER BY l.product, l.id`,
    more: more.ofPages,
  },
  {
    what: 'all rows ordered by a column of a related object',
    index: 'column, and foreign key',
    path: '/rest/v1/growth/everyorder/?ordering=customer__name',
    grows: true,
    // PostgreSQL reads the rows of one related object again for each page, MariaDB the table.
    only: ['sqlite'],
    sql: () => `SELECT o.id, o.customer_id FROM growth_order o ${JOIN_CUSTOMER} ORDER BY c.name, o.id`,
    more: (filled) => more.ofPages(filled) + more.ofJoin(filled),
  },
  {
    what: 'filter by a value in JSON',
    index: 'expression, or generated column',
    path: '/rest/v1/growth/document/?meta__color=c77',
    other: { path: '/rest/v1/growth/document/?meta__color=c78' },
    sql: ({ database }) => documentSql.ofColor(database),
  },
  {
    what: 'ranked search',
    index: 'full-text',
    path: '/rest/v1/growth/document/?search=word77&ordering=-rank',
    other: { path: '/rest/v1/growth/document/?search=word78&ordering=-rank' },
    sql: ({ database }) => documentSql.ofWord(database),
  },
  {
    what: 'aggregate of the rows of a foreign key',
    index: 'foreign key',
    path: `${ORDER}?aggregate=count,sum.number&customer=7`,
    other: { path: `${ORDER}?aggregate=count,sum.number&customer=1` },
    sql: () => 'SELECT count(*), sum(o.number) FROM growth_order o WHERE o.customer_id = 7',
  },
  {
    what: 'aggregate of all rows, by a column',
    index: 'none',
    path: `${ORDER}?aggregate=count,sum.number&group=state`,
    grows: true,
    sql: () =>
      'SELECT o.state, count(*), sum(o.number) FROM growth_order o GROUP BY o.state ORDER BY o.state',
  },
];
