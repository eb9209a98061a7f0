import { RANGE_WIDTH } from './rows.js';
import { EXPANDED_CHOICES, lowestOf, writes } from './workloads.js';
import type { Order, Workload } from './workloads.js';
import { bodyOf, changedText, newChoice, targetOf } from './writes.js';
import type { WriteOrder } from './writes.js';

export interface StyledRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Fields = Readonly<Record<string, Json>>;

/** The requests and the response format of a contestant. */
export interface Style {
  /** Undefined if the contestant has no such endpoint. */
  requestFor(order: Order): StyledRequest | undefined;
  /** The rows of a response with the names of the schema. They may have additional fields. */
  rows(answer: Json, workload: Workload): readonly Fields[];
}

const JSON_BODY = { 'content-type': 'application/json' };

function get(path: string): StyledRequest {
  return { method: 'GET', path };
}

function write(method: 'POST' | 'PATCH', path: string, body: object): StyledRequest {
  return { method, path, body: JSON.stringify(body), headers: JSON_BODY };
}

/** Removes the suffix `_id` from the names of foreign keys. */
function withKeys(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.replace(/_id$/, ''), value]));
}

function listOf(answer: Json | undefined): readonly Fields[] {
  const given = Array.isArray(answer) ? (answer as readonly Json[]) : [answer];
  return given.filter(
    (each): each is Fields => typeof each === 'object' && each !== null && !Array.isArray(each),
  );
}

/** Rows of a page also have the number of all rows as `of`. */
function rowsOf(answer: Json): readonly Fields[] {
  const [page] = Array.isArray(answer) ? [] : listOf(answer);
  if (page?.results === undefined) return listOf(answer);
  return listOf(page.results).map((row) => ({ ...row, ...keysOfChoices(row), of: page.count ?? null }));
}

/** Expanded choices, by their keys. */
function keysOfChoices({ choices }: Fields): Fields {
  if (!Array.isArray(choices)) return {};
  return {
    choices: listOf(choices)
      .map(({ id }) => String(id))
      .join(' '),
  };
}

function newChoiceWithKey(n: number): object {
  const { question, ...rest } = newChoice(n);
  return { ...rest, question_id: question };
}

function restifyWrite(order: WriteOrder): StyledRequest {
  const { action, table } = targetOf(order.workload);
  const app = table === 'choice' || table === 'question' ? 'polls' : 'depot';
  const path = `/rest/v1/${app}/${table}/`;
  const body = bodyOf(order);
  if (action === 'update') return write('PATCH', `${path}${order.n}/`, body);
  return write('POST', action === 'upsert' ? `${path}?upsert=true` : path, body);
}

function plainWrite(order: WriteOrder): StyledRequest {
  const { action, table } = targetOf(order.workload);
  const path = table === 'shelf' ? '/shelves' : `/${table}s`;
  if (table === 'choice') return write('POST', path, newChoiceWithKey(order.n));
  if (action === 'update') return write('PATCH', `${path}/${order.n}`, bodyOf(order));
  return write('POST', action === 'create' ? path : `${path}/${action}`, bodyOf(order));
}

export const RESTIFY: Style = {
  requestFor({ workload, n, version }) {
    if (writes(workload)) return restifyWrite({ workload, n, version });
    switch (workload) {
      case 'constant':
        return undefined;
      case 'retrieve':
        return get(`/rest/v1/polls/question/${n}/`);
      case 'list-100':
        return get('/rest/v1/edu/student/');
      case 'list-10000':
        return get('/rest/v1/polls/choice/');
      case 'filter':
        return get(`/rest/v1/polls/choice/?votes=${n}&ordering=-choice_text`);
      case 'range':
        return get(
          `/rest/v1/lab/measurement/?value__gte=${lowestOf(n)}&value__lt=${lowestOf(n) + RANGE_WIDTH}&ordering=-value`,
        );
      case 'page':
        return get(`/rest/v1/blog/post/?page=${n}`);
      case 'page-json':
        return get(`/rest/v1/lab/device/?page=${n}`);
      case 'expanded':
        return get(
          `/rest/v1/polls/question/?page=${n}&expand=choices&choices.ordering=-votes&choices.limit=${EXPANDED_CHOICES}`,
        );
      case 'aggregate':
        return get('/rest/v1/polls/choice/?aggregate=count,sum.votes&group=votes');
      case 'nested':
        return get(`/rest/v1/polls/question/${n}/choices/`);
      case 'through':
        return get(`/rest/v1/edu/student/${n}/course_set/`);
      default:
        return workload satisfies never;
    }
  },
  rows: rowsOf,
};

export const PLAIN: Style = {
  requestFor({ workload, n, version }) {
    if (writes(workload)) return plainWrite({ workload, n, version });
    switch (workload) {
      case 'constant':
        return get('/constant');
      case 'retrieve':
        return get(`/questions/${n}`);
      case 'list-100':
        return get('/students');
      case 'list-10000':
        return get('/choices');
      case 'filter':
        return get(`/choices?votes=${n}&ordering=-choice_text`);
      case 'range':
        return get(`/measurements?from=${lowestOf(n)}&to=${lowestOf(n) + RANGE_WIDTH}&ordering=-value`);
      case 'page':
        return get(`/posts?page=${n}`);
      case 'page-json':
        return get(`/devices?page=${n}`);
      case 'expanded':
        return get(`/questions-with-choices?page=${n}`);
      case 'aggregate':
        return get('/choices-by-votes');
      case 'nested':
        return get(`/questions/${n}/choices`);
      case 'through':
        return get(`/students/${n}/enrolments`);
      default:
        return workload satisfies never;
    }
  },
  rows: (answer) => rowsOf(answer).map(withKeys),
};

/** Lists below a parent that is looked up by a statement of its own; the rest is as in `PLAIN`. */
export const CHECKED: Style = {
  requestFor(order) {
    const { workload } = order;
    const request = workload === 'nested' || workload === 'through' ? PLAIN.requestFor(order) : undefined;
    return request && { ...request, path: `${request.path}/checked` };
  },
  rows: (answer, workload) => PLAIN.rows(answer, workload),
};

/** The workloads that all contestants may have: for the others, other packages and the limits are not written. */
export const COMMON: readonly Workload[] = [
  'constant',
  'retrieve',
  'list-100',
  'list-10000',
  'filter',
  'nested',
  'through',
  'create',
  'update',
];

/** The same for these workloads, and none for others. */
export function only(style: Style, workloads: readonly Workload[]): Style {
  return {
    requestFor: (order) => (workloads.includes(order.workload) ? style.requestFor(order) : undefined),
    rows: (answer, workload) => style.rows(answer, workload),
  };
}

/** The plain paths, with an explicit order, which the others have by default. */
export const DATAUI: Style = {
  requestFor(order) {
    switch (order.workload) {
      case 'constant':
        return undefined;
      case 'list-100':
        return get('/students?sort=id,ASC');
      case 'list-10000':
        return get('/choices?sort=id,ASC');
      case 'filter':
        return get(`/choices?filter=votes||$eq||${order.n}&sort=choice_text,DESC`);
      case 'nested':
        return get(`/questions/${order.n}/choices?sort=id,ASC`);
      case 'through':
        return get(`/students/${order.n}/enrolments?sort=id,ASC`);
      default:
        return COMMON.includes(order.workload) ? PLAIN.requestFor(order) : undefined;
    }
  },
  rows: (answer, workload) => PLAIN.rows(answer, workload),
};

/** Lists only: it has no other endpoints. */
export const PAGINATE: Style = {
  requestFor({ workload, n }) {
    switch (workload) {
      case 'list-100':
        return get('/students?limit=100');
      case 'list-10000':
        return get('/choices?limit=10000');
      case 'filter':
        return get(`/choices?limit=1000&filter.votes=${n}&sortBy=choice_text:DESC`);
      case 'nested':
        return get(`/questions/${n}/choices?limit=100`);
      case 'through':
        return get(`/students/${n}/enrolments?limit=100`);
      default:
        return undefined;
    }
  },
  rows: (answer) => listOf(listOf(answer)[0]?.data).map(withKeys),
};

/** It rejects `null`, so notes are omitted. */
export const JSON_API: Style = {
  requestFor({ workload, n, version }) {
    switch (workload) {
      case 'constant':
        return undefined;
      case 'retrieve':
        return get(`/question/${n}`);
      case 'list-100':
        return get('/student?page[size]=100&page[number]=1&sort=id');
      case 'list-10000':
        return get('/choice?page[size]=10000&page[number]=1&sort=id');
      case 'filter':
        return get(`/choice?filter[votes][eq]=${n}&sort=-choice_text&page[size]=1000&page[number]=1`);
      case 'nested':
        return get(`/choice?filter[question_id][eq]=${n}&sort=id&page[size]=100&page[number]=1`);
      case 'through':
        return get(`/enrolment?filter[student_id][eq]=${n}&sort=id&page[size]=100&page[number]=1`);
      case 'create':
        return write('POST', '/choice', {
          data: { type: 'choice', attributes: { ...newChoiceWithKey(n), note: undefined } },
        });
      case 'update':
        return write('PATCH', `/question/${n}`, {
          data: { type: 'question', id: String(n), attributes: { question_text: changedText(n, version) } },
        });
      default:
        return undefined;
    }
  },
  rows: (answer) =>
    listOf(listOf(answer)[0]?.data).map((row) =>
      withKeys({ ...listOf(row.attributes)[0], id: Number(row.id) }),
    ),
};

/** Nested rows are requested from a collection with a filter. */
export const KAVO: Style = {
  requestFor(order) {
    const { workload, n } = order;
    switch (workload) {
      case 'constant':
        return undefined;
      case 'list-100':
        return get('/students?limit=100&sort=id');
      case 'list-10000':
        return get('/choices?limit=10000&sort=id');
      case 'filter':
        return get(`/choices?filter[votes][eq]=${n}&sort=-choice_text&limit=1000`);
      case 'nested':
        return get(`/choices?filter[question_id][eq]=${n}&sort=id&limit=100`);
      case 'through':
        return get(`/enrolments?filter[student_id][eq]=${n}&sort=id&limit=100`);
      default:
        return COMMON.includes(order.workload) ? PLAIN.requestFor(order) : undefined;
    }
  },
  rows: (answer) => {
    const [list] = listOf(answer);
    return listOf(list?.items ?? list).map(withKeys);
  },
};
