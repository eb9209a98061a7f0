import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As much of S3 as the recipe of uploads needs: objects below one bucket, in one part or several. It checks no signature. */
export class FakeS3 {
  readonly objects = new Map<string, Buffer>();
  /** What was asked, in order: `PUT key`, and `POST key?uploads`. */
  readonly requests: string[] = [];
  /** Parts by the number of the upload. */
  private readonly uploads = new Map<string, Map<number, Buffer>>();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      this.respond(request, response).catch((error: unknown) => {
        response.destroy(error as Error);
      });
    });
  }

  static async start(): Promise<FakeS3> {
    const fake = new FakeS3();
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Uploads that are neither completed nor aborted. */
  get openUploads(): number {
    return this.uploads.size;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) =>
      this.server.close(() => {
        resolve();
      }),
    );
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const operation = { uploads: '?uploads', uploadId: '?part' };
    const [, named = ''] = Object.entries(operation).find(([name]) => searchParams.has(name)) ?? [];
    this.requests.push(`${request.method ?? ''} ${pathname}${named}`);
    if (!(request.headers.authorization ?? '').startsWith('AWS4-HMAC-SHA256 Credential=')) {
      refuse(response);
      return;
    }
    const body = decodeBody(request, await readAll(request));
    const upload = searchParams.get('uploadId') ?? '';
    if (request.method === 'GET') {
      this.sendObject(pathname, response);
      return;
    }
    if (request.method === 'DELETE') {
      this.uploads.delete(upload);
      response.writeHead(204).end();
    } else if (request.method === 'PUT') {
      if (upload === '') this.objects.set(pathname, body);
      else this.uploads.get(upload)?.set(Number(searchParams.get('partNumber')), body);
      response.writeHead(200, { ETag: `"${body.length}"` }).end();
    } else this.changeUpload(pathname, upload, response);
  }

  /** Begins an upload in parts, or joins them. */
  private changeUpload(path: string, upload: string, response: ServerResponse): void {
    const parts = this.uploads.get(upload);
    if (parts === undefined) {
      const id = String(this.requests.length);
      this.uploads.set(id, new Map());
      sendXml(
        response,
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
      return;
    }
    this.uploads.delete(upload);
    const ordered = [...parts].sort(([one], [other]) => one - other).map(([, part]) => part);
    this.objects.set(path, Buffer.concat(ordered));
    sendXml(response, '<CompleteMultipartUploadResult><ETag>"all"</ETag></CompleteMultipartUploadResult>');
  }

  private sendObject(path: string, response: ServerResponse): void {
    const found = this.objects.get(path);
    if (found) response.writeHead(200, { 'Content-Length': found.length }).end(found);
    else response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
  }
}

function refuse(response: ServerResponse): void {
  response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
}

function sendXml(response: ServerResponse, xml: string): void {
  response.writeHead(200, { 'Content-Type': 'application/xml' }).end(xml);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The encoding `aws-chunked` has the size of each chunk before it, and checksums behind the last one. */
function decodeBody({ headers }: IncomingMessage, body: Buffer): Buffer {
  if (!(headers['content-encoding'] ?? '').includes('aws-chunked')) return body;
  const chunks: Buffer[] = [];
  for (let position = 0; ;) {
    const end = body.indexOf('\r\n', position);
    const size = Number.parseInt(body.subarray(position, end).toString(), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(end + 2, end + 2 + size));
    position = end + 2 + size + 2;
  }
}
