import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; of a repeated one the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly json: unknown;
}

/**
 * Sends bytes as they are, for what Node's own client would tidy up, and reads until the server closes: the text must
 * ask for `Connection: close`. Interim answers (100) are left out.
 */
export function sendRaw(
  port: number,
  head: readonly string[],
  body: string | Buffer = '',
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('end', () => {
      resolve(parsed(Buffer.concat(chunks).toString('utf8')));
    });
    socket.write([...head, 'Host: h', 'Connection: close', '', ''].join('\r\n'));
    socket.write(body);
  });
}

/** A body in chunks, with the closing one. */
export function chunked(...parts: readonly string[]): string {
  return [
    ...parts
      .filter((part) => part !== '')
      .map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`),
    '0\r\n\r\n',
  ].join('');
}

function parsed(text: string): RawAnswer {
  const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const [head = '', ...rest] = final.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map(
      (line) =>
        [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()] as const,
    ),
  );
  const body = rest.join('\r\n\r\n');
  return {
    status: Number(first.split(' ')[1]),
    headers,
    json: body === '' ? undefined : (JSON.parse(body) as unknown),
  };
}

/** Sends requests one behind the other on one connection, without waiting for an answer, and reads as many answers. */
export function sendPipelined(port: number, requests: readonly string[]): Promise<readonly RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const answers: RawAnswer[] = [];
    let rest = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error(`The connection closed behind ${answers.length} of ${requests.length} answers`));
    });
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = answerEnd(rest); end !== undefined; end = answerEnd(rest)) {
        answers.push(parsed(rest.subarray(0, end).toString('utf8')));
        rest = rest.subarray(end);
      }
      if (answers.length < requests.length) return;
      resolve(answers);
      socket.destroy();
    });
    socket.write(requests.join(''));
  });
}

/** Where the first whole answer ends; undefined while there is none. */
function answerEnd(bytes: Buffer): number | undefined {
  const head = bytes.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const text = bytes.subarray(0, head).toString('latin1');
  const begin = head + 4;
  const length = /^content-length: (\d+)$/im.exec(text)?.[1];
  if (length !== undefined)
    return begin + Number(length) <= bytes.length ? begin + Number(length) : undefined;
  const end = bytes.indexOf('0\r\n\r\n', begin);
  return end === -1 ? undefined : end + 5;
}
