import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { DESCRIPTION_TYPE, JSON_TYPE } from './client.js';
import type { Client } from './client.js';
import { MOST_ROWS } from './load.js';
import { readBody } from './read-rows.js';
import { withParameters } from './urls.js';

/** The number of rows of a list, as a text: `1000+` for a long list that cannot be counted, `?` if it is unknown. */
export async function countRows(client: Client, url: string): Promise<string> {
  const described = await client.get(url, { accept: DESCRIPTION_TYPE });
  const description = (await described.response.json()) as RouteDescription;
  const { count, size } = description.pagination ?? {};
  const counted = withParameters(url, {
    ...(count === undefined ? {} : { [count]: 'exact' }),
    ...(size === undefined ? {} : { [size]: '1' }),
  });
  const { response } = await client.get(counted, { accept: JSON_TYPE });
  if (!response.ok) return '?';
  const { value, cut } = await readBody(response, MOST_ROWS);
  const header = response.headers.get('x-total-count');
  if (header !== null) return header;
  if (Array.isArray(value) && !description.pagination) return cut ? `${value.length}+` : String(value.length);
  const total = (value as { readonly count?: unknown } | undefined)?.count;
  return typeof total === 'number' ? String(total) : '?';
}
