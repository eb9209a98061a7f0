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
export function sendRaw(port: number, head: readonly string[], body: string | Buffer = ''): Promise<RawAnswer> {
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
  return [...parts.filter((part) => part !== '').map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`), '0\r\n\r\n'].join('');
}

function parsed(text: string): RawAnswer {
  const final = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const [head = '', ...rest] = final.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()] as const));
  const body = rest.join('\r\n\r\n');
  return { status: Number(first.split(' ')[1]), headers, json: body === '' ? undefined : (JSON.parse(body) as unknown) };
}
