import type { PageResponse } from '../../core/contracts/pagination.js';
import type { RestResponse } from './rest-response.js';

/** A page of JSON rows separated by commas. A complete text, so that its length is known. */
export function renderPage(rows: string, { headers, envelope }: PageResponse): RestResponse {
  const body = { kind: 'text', text: envelope ? enclosed(rows, envelope) : `[${rows}]` } as const;
  return headers ? { status: 200, headers, body } : { status: 200, body };
}

function enclosed(rows: string, { members, rows: name }: NonNullable<PageResponse['envelope']>): string {
  const opening = JSON.stringify(members).slice(0, -1);
  return `${opening}${opening === '{' ? '' : ','}${JSON.stringify(name)}:[${rows}]}`;
}

/** The page as a value. */
export function pageValue(rows: readonly unknown[], { envelope }: PageResponse): unknown {
  return envelope ? { ...envelope.members, [envelope.rows]: rows } : rows;
}
