import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';

const SLOW_PAUSE = 250;

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** One answer that is read as it comes, and not kept. */
export class LongList {
  bytes = 0;
  rows = 0;
  milliseconds = 0;
  /** It came to its end, and was not broken off. */
  whole = false;

  private constructor(
    private readonly incoming: IncomingMessage,
    private readonly asked: number,
    readonly firstByte: number,
  ) {}

  /** Resolves with the first byte of the body. */
  static open(port: number, path: string): Promise<LongList> {
    const asked = performance.now();
    return new Promise((resolve, reject) => {
      const outgoing = get({ host: '127.0.0.1', port, path, agent: false }, (incoming) => {
        if (incoming.statusCode !== 200)
          reject(new Error(`${path} is answered with ${incoming.statusCode ?? 0}`));
        incoming.once('readable', () => {
          resolve(new LongList(incoming, asked, performance.now() - asked));
        });
        incoming.on('error', () => undefined);
      });
      outgoing.on('error', reject);
    });
  }

  /** Reads all that is left, and counts the rows by their keys. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      let tail = '';
      this.incoming.on('data', (chunk: Buffer) => {
        this.bytes += chunk.length;
        const text = tail + chunk.toString('latin1');
        this.rows += text.split('{"id":').length - 1;
        tail = text.slice(-5);
      });
      this.incoming.once('close', () => {
        this.milliseconds = performance.now() - this.asked;
        this.whole = this.incoming.complete;
        resolve();
      });
    });
  }

  /** From now on a few kilobytes at a time. */
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
