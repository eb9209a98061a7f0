import { changedText, newChoice } from './workloads.js';
import type { Order, Workload } from './workloads.js';

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

function newChoiceWithKey(n: number): object {
  const { question, ...rest } = newChoice(n);
  return { ...rest, question_id: question };
}

export const RESTIFY: Style = {
  requestFor({ workload, n, version }) {
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
      case 'nested':
        return get(`/rest/v1/polls/question/${n}/choices/`);
      case 'through':
        return get(`/rest/v1/edu/student/${n}/course_set/`);
      case 'create':
        return write('POST', '/rest/v1/polls/choice/', newChoice(n));
      case 'update':
        return write('PATCH', `/rest/v1/polls/question/${n}/`, { question_text: changedText(n, version) });
      default:
        return workload satisfies never;
    }
  },
  rows: listOf,
};

export const PLAIN: Style = {
  requestFor({ workload, n, version }) {
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
      case 'nested':
        return get(`/questions/${n}/choices`);
      case 'through':
        return get(`/students/${n}/enrolments`);
      case 'create':
        return write('POST', '/choices', newChoiceWithKey(n));
      case 'update':
        return write('PATCH', `/questions/${n}`, { question_text: changedText(n, version) });
      default:
        return workload satisfies never;
    }
  },
  rows: (answer) => listOf(answer).map(withKeys),
};

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
        return PLAIN.requestFor(order);
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
        return workload satisfies never;
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
        return PLAIN.requestFor(order);
    }
  },
  rows: (answer) => {
    const [list] = listOf(answer);
    return listOf(list?.items ?? list).map(withKeys);
  },
};
