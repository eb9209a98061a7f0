import { valueResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';

/** The part of Nest's `StreamableFile` that is used here. Matched by shape, because Nest may be loaded twice. */
interface FileLike {
  getStream(): AsyncIterable<Uint8Array>;
  getHeaders(): {
    readonly type: string;
    readonly disposition: string | readonly string[] | undefined;
    readonly length: number | undefined;
  };
}

interface ActionStatus {
  /** The status of a response with a body. */
  readonly status: number;
  /** Whether the application has set it. */
  readonly isExplicit: boolean;
  /** `ETag` and `Last-Modified`, if known. */
  readonly validators: Readonly<Record<string, string>> | undefined;
}

/** The response for the value of an action: JSON, a file for a `StreamableFile`, and 204 for undefined. */
export function actionResponse(
  value: unknown,
  { status, isExplicit, validators }: ActionStatus,
): RestResponse {
  if (isFile(value)) return fileResponse(status, value);
  return value === undefined && isExplicit ? { status } : valueResponse(status, value, validators);
}

function fileResponse(status: number, value: FileLike): RestResponse {
  const { type, disposition, length } = value.getHeaders();
  const [name] = typeof disposition === 'string' ? [disposition] : (disposition ?? []);
  return {
    status,
    headers: {
      'Content-Type': type,
      ...(name !== undefined && { 'Content-Disposition': name }),
      ...(length !== undefined && { 'Content-Length': String(length) }),
    },
    body: { kind: 'stream', pieces: value.getStream() },
  };
}

function isFile(value: unknown): value is FileLike {
  const { getStream, getHeaders } = (value ?? {}) as Partial<FileLike>;
  return typeof getStream === 'function' && typeof getHeaders === 'function';
}
