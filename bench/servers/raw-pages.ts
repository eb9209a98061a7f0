import type { IncomingMessage } from 'node:http';
import { PAGE_SIZE, pageFrom, withLinks } from './page-of-posts.js';
import type { RawDatabase, Row } from './raw-database.js';

/** A range of measurements, or a page of posts or devices; undefined if there is none. */
export async function readPage(
  { url = '', headers }: IncomingMessage,
  database: RawDatabase,
): Promise<object | undefined> {
  const [, from, to] = /^\/measurements\?from=(\d+)&to=(\d+)&ordering=-value$/.exec(url) ?? [];
  if (from !== undefined) return database.measurements([Number(from), Number(to)]);
  const [, list = '', number] = /^\/(posts|devices)\?page=(\d{1,6})$/.exec(url) ?? [];
  if (number === undefined) return undefined;
  const page = Number(number);
  if (page < 1) return undefined;
  const [read, countAll, write] =
    list === 'posts'
      ? [database.posts, database.countPosts, withLinks]
      : [database.devices, database.countDevices, parsed];
  const [rows, [counted]] = await Promise.all([read([(page - 1) * PAGE_SIZE]), countAll([])]);
  return pageFrom(rows.map(write), {
    page,
    count: Number(counted?.count),
    url: `http://${headers.host ?? ''}/${list}`,
  });
}

/** SQLite and MariaDB return a JSON column as text. */
function parsed(device: Row): Row {
  const { settings } = device;
  return typeof settings === 'string' ? { ...device, settings: JSON.parse(settings) as unknown } : device;
}
