import type { Answer, Client } from '../support/client.js';

/** The part of curl that the documents use. */
interface Curl {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** `-i`: the status line and the headers come before the body. */
  readonly include: boolean;
  /** `-w`: printed behind the body. */
  readonly format: string;
}

/** What a shell keeps between the commands of a document. */
export type Variables = Map<string, string>;

/**
 * Sends what the command says, with the Host of the shown URL, and gives what curl would print. `NAME=$(curl … | jq -r .member)`
 * keeps a member of the answer, and prints nothing.
 */
export async function runCurl(command: string, client: Client, variables: Variables): Promise<string> {
  const [, name, inner, member] = /^(\w+)=\$\((curl [^]*) \| jq -r \.(\w+)\)$/.exec(command) ?? [];
  if (name === undefined || inner === undefined || member === undefined)
    return output(await send(parseCurl(command, variables), client));
  const { answer } = await send(parseCurl(inner, variables), client);
  const value: unknown = (answer.json as Readonly<Record<string, unknown>> | undefined)?.[member];
  if (typeof value !== 'string') throw new Error(`The answer has no text "${member}": ${answer.text}`);
  variables.set(name, value);
  return '';
}

interface Sent {
  readonly curl: Curl;
  readonly answer: Answer;
}

async function send(curl: Curl, client: Client): Promise<Sent> {
  const answer = await client.send(curl.method, curl.path, {
    headers: { host: curl.host, accept: '*/*', ...curl.headers },
    ...(curl.body === undefined ? {} : { raw: curl.body }),
  });
  return { curl, answer };
}

function output({ curl, answer }: Sent): string {
  if (!curl.include && curl.format === '' && answer.status !== 200) {
    throw new Error(
      `The answer has the status ${answer.status}, which the document does not show: ${answer.text}`,
    );
  }
  const status = curl.format.replaceAll('\\n', '\n').replaceAll('%{http_code}', String(answer.status));
  return (curl.include ? head(answer) : '') + answer.text + status;
}

function head({ status, headers }: Answer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  return `HTTP ${status}\n${lines.join('\n')}\n\n`;
}

function parseCurl(command: string, variables: Variables): Curl {
  const [program, ...words] = shellWords(command, variables);
  if (program !== 'curl') throw new Error(`Only curl is run, and not: ${command}`);
  const curl = { headers: {}, include: false, format: '' } as ParsedWords;
  while (words.length > 0) readWord(curl, words);
  const { headers, url = '', method, body, include, format } = curl;
  const [, host, path] = /^http:\/\/([^/]+)(\/.*)$/.exec(url) ?? [];
  if (host === undefined || path === undefined) throw new Error(`No URL in: ${command}`);
  if (body !== undefined) headers['content-type'] ??= 'application/x-www-form-urlencoded';
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    host,
    path,
    headers,
    body,
    include,
    format,
  };
}

interface ParsedWords {
  readonly headers: Record<string, string>;
  include: boolean;
  format: string;
  url?: string;
  method?: string;
  body?: string;
}

/** Between the parts of a form. */
const BOUNDARY = 'part';

const OPTIONS: Readonly<Record<string, (curl: ParsedWords, words: string[]) => void>> = {
  '-s': () => undefined,
  '-i': (curl) => {
    curl.include = true;
  },
  '-X': (curl, words) => {
    curl.method = words.shift() ?? '';
  },
  '-d': (curl, words) => {
    curl.body = words.shift() ?? '';
  },
  // A form with one part, whose content stands in the command: `name=content;filename=a.txt`.
  '-F': (curl, words) => {
    const [, name = '', content = '', filename] =
      /^(\w+)=([^;]*)(?:;filename=(\S+))?$/.exec(words.shift() ?? '') ?? [];
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const disposition = `Content-Disposition: form-data; name="${name}"${file}`;
    curl.headers['content-type'] = `multipart/form-data; boundary=${BOUNDARY}`;
    curl.body = [`--${BOUNDARY}`, disposition, '', content, `--${BOUNDARY}--`, ''].join('\r\n');
  },
  '-w': (curl, words) => {
    curl.format = words.shift() ?? '';
  },
  '-u': ({ headers }, words) => {
    headers['authorization'] = `Basic ${Buffer.from(words.shift() ?? '').toString('base64')}`;
  },
  '-H': ({ headers }, words) => {
    const [name = '', ...value] = (words.shift() ?? '').split(':');
    headers[name.toLowerCase()] = value.join(':').trim();
  },
};

function readWord(curl: ParsedWords, words: string[]): void {
  const word = words.shift() ?? '';
  const option = OPTIONS[word];
  if (option) option(curl, words);
  else if (word.startsWith('-') || curl.url !== undefined)
    throw new Error(`This option of curl is not known here: ${word}`);
  else curl.url = word;
}

/**
 * Words of a shell: blanks separate, quotes keep together, a backslash at the end of a line goes on in the next. `$NAME` is a
 * variable, but not in single quotes.
 */
function shellWords(command: string, variables: Variables): string[] {
  const words: string[] = [];
  for (const match of command.replaceAll('\\\n', ' ').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    words.push(
      match[0].replace(
        /'([^']*)'|"([^"]*)"|[^'"]+/g,
        (part: string, single?: string, double?: string) => single ?? expanded(double ?? part, variables),
      ),
    );
  }
  return words;
}

function expanded(text: string, variables: Variables): string {
  return text.replace(/\$(\w+)/g, (_, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`No command above has set $${name}`);
    return value;
  });
}

/**
 * Both without what differs from call to call: JSON on one line, headers that the document leaves out. A shown line
 * that ends in `…` stands for every line with that beginning.
 */
export function comparable(
  shown: string,
  sent: string,
): { readonly shown: string; readonly printed: string } {
  // A terminal shows no carriage returns.
  const printed = sent.replaceAll('\r\n', '\n');
  if (/^HTTP \d+\n/.test(printed)) return comparableWithHead(shown, printed);
  return { shown: oneLine(shown), printed: oneLine(printed) };
}

function comparableWithHead(
  shown: string,
  printed: string,
): { readonly shown: string; readonly printed: string } {
  const [shownHead = '', shownBody = ''] = halves(shown);
  const [printedHead = '', printedBody = ''] = halves(printed);
  const wanted = shownHead
    .split('\n')
    .map((line) =>
      line.replace(/^HTTP\/1\.1 (\d+) .*$/, 'HTTP $1').replace(/^[^:]+:/, (name) => name.toLowerCase()),
    );
  const given = printedHead.split('\n');
  const found = wanted.map((line) => {
    const name = line.split(':')[0] ?? '';
    const own = given.find((each) => each === line || each.startsWith(`${name}:`)) ?? given[0] ?? '';
    return line.endsWith('…') && own.startsWith(line.slice(0, -1)) ? line : own;
  });
  return {
    shown: `${wanted.join('\n')}\n\n${oneLine(shownBody)}`,
    printed: `${found.join('\n')}\n\n${oneLine(printedBody)}`,
  };
}

function halves(text: string): readonly string[] {
  const at = text.indexOf('\n\n');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 2)];
}

/** JSON keeps the order of its keys; a status behind it stands on a line of its own. */
function oneLine(text: string): string {
  const [, body = '', status = ''] = /^([^]*?)(\n\d{3})?\s*$/.exec(text) ?? [];
  try {
    return JSON.stringify(JSON.parse(body)) + status;
  } catch {
    return body.trimEnd() + status;
  }
}
