import type { ApiDocument, ApiOperation, ApiResponse } from './api-document.js';
import type { Answer, Problem, Step } from './step.js';

/** The headers of every response below a prefix (contract 7.1). */
const ALWAYS: Readonly<Record<string, string>> = {
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  vary: 'Accept, Cookie',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The headers of HTTP itself, which are not documented. */
const OF_HTTP = new Set([
  'content-type',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

const JSON_MEDIA_TYPES = /[/+]json$/;

const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Documented headers that are never absent. */
const CERTAIN = new Set(['Allow', 'WWW-Authenticate', 'Retry-After']);

/** Checks whether status, headers and body conform to the documented operation (405 for an undocumented method). */
export function checkForm(
  document: ApiDocument,
  operation: ApiOperation | undefined,
  { step, answer }: { readonly step: Step; readonly answer: Answer },
): readonly Problem[] {
  const problems: Problem[] = [];
  const path = step.operation.replace(/^\S+ /, '');
  if (answer.status >= 500) return [{ rule: `answers ${answer.status}`, detail: answer.text.slice(0, 300) }];
  problems.push(...checkHeaders(document.methodsOf(path), answer));
  if (!operation) return problems;
  const response = operation.responses.get(String(answer.status));
  if (!response) {
    if (!operation.responses.has('default'))
      problems.push({
        rule: `the document does not know the status ${answer.status}`,
        detail: `only ${[...operation.responses.keys()].join(', ')}: ${answer.text.slice(0, 300)}`,
      });
    return problems;
  }
  return [...problems, ...checkNames(response, answer), ...checkBody(document, response, answer)];
}

function checkHeaders(methods: readonly string[], { headers }: Answer): readonly Problem[] {
  const served = [
    ...ORDER.filter((each) => methods.includes(each)),
    ...(methods.includes('GET') ? ['HEAD'] : []),
    'OPTIONS',
  ];
  const expected = Object.entries({ ...ALWAYS, allow: served.join(', ') });
  return expected
    .filter(([name, value]) => headers[name] !== value)
    .map(([name, value]) => ({
      rule: `the header ${name} is wrong`,
      detail: `expected "${value}", got ${JSON.stringify(headers[name])}`,
    }));
}

function checkNames(response: ApiResponse, { headers }: Answer): readonly Problem[] {
  const described = new Set(response.headers.map((name) => name.toLowerCase()));
  const more = Object.keys(headers).filter(
    (name) => !described.has(name) && !(name in ALWAYS) && !OF_HTTP.has(name) && name !== 'allow',
  );
  const missing = response.headers.filter(
    (name) => CERTAIN.has(name) && headers[name.toLowerCase()] === undefined,
  );
  return [
    ...more.map((name) => ({ rule: `the header ${name} is not described`, detail: String(headers[name]) })),
    ...missing.map((name) => ({ rule: `the header ${name} is missing`, detail: '' })),
  ];
}

function checkBody(document: ApiDocument, { content }: ApiResponse, answer: Answer): readonly Problem[] {
  if (content.size === 0)
    return answer.text === ''
      ? []
      : [{ rule: 'there is a body, and none is described', detail: answer.text.slice(0, 300) }];
  const type = String(answer.headers['content-type']);
  // JSON has no parameters; for other formats, the document has the type without parameters.
  const [plain = ''] = type.split(';');
  const pointer = content.get(JSON_MEDIA_TYPES.test(plain) ? type : plain);
  if (pointer === undefined)
    return [
      {
        rule: 'the media type is not described',
        detail: `${type}, and not ${[...content.keys()].join(', ')}`,
      },
    ];
  if (!JSON_MEDIA_TYPES.test(type)) return [];
  if (answer.json === undefined) return [{ rule: 'the body is no JSON', detail: answer.text.slice(0, 300) }];
  const wrong = document.answerProblem(pointer, answer.json);
  return wrong === undefined
    ? []
    : [
        {
          rule: `the body of ${answer.status} is not as described`,
          detail: `${wrong}: ${answer.text.slice(0, 600)}`,
        },
      ];
}
