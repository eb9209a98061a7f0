import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';

const SLOW_PAUSE = 250;

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A response that is read as a stream, without keeping it. */
export class LongList {
  bytes = 0;
  rows = 0;
  milliseconds = 0;
  /** Whether the response ended without being aborted. */
  whole = false;
  readonly firstByte: number;

  private constructor(
    private readonly incoming: IncomingMessage,
    /** What stands once in each row. */
    private readonly mark: string,
    private readonly requestedAt: number,
  ) {
    this.firstByte = performance.now() - requestedAt;
  }

  /** Resolves with the first byte of the body. */
  static open(port: number, path: string): Promise<LongList> {
    const requestedAt = performance.now();
    const mark = path.includes('format=csv') ? '\r\n' : '{"id":';
    return new Promise((resolve, reject) => {
      const outgoing = get({ host: '127.0.0.1', port, path, agent: false }, (incoming) => {
        if (incoming.statusCode !== 200)
          reject(new Error(`${path} is answered with ${incoming.statusCode ?? 0}`));
        incoming.once('readable', () => {
          resolve(new LongList(incoming, mark, requestedAt));
        });
        incoming.on('error', () => undefined);
      });
      outgoing.on('error', reject);
    });
  }

  /** Reads the rest, and counts the rows. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      let tail = '';
      this.incoming.on('data', (chunk: Buffer) => {
        this.bytes += chunk.length;
        const text = tail + chunk.toString('latin1');
        this.rows += text.split(this.mark).length - 1;
        tail = text.slice(1 - this.mark.length);
      });
      this.incoming.once('close', () => {
        this.milliseconds = performance.now() - this.requestedAt;
        this.whole = this.incoming.complete;
        resolve();
      });
    });
  }

  /** From now on, reads a few kilobytes at a time. */
  slowDown(): void {
    this.incoming.on('data', () => {
      this.incoming.pause();
      setTimeout(() => this.incoming.resume(), SLOW_PAUSE);
    });
  }

  leave(): void {
    this.incoming.destroy();
  }
}
