import { Readable } from 'node:stream';

/**
 * A readable stream of a body's chunks, for an HTTP library that sends one. Unlike `Readable.from`, it requests no
 * chunk before the previous one is consumed: a buffered chunk for each slow client would survive garbage collections.
 */
export class ChunkStream extends Readable {
  private readonly chunks: AsyncIterator<string | Uint8Array>;

  /** @param beforeFailure runs if a chunk cannot be read, before the stream fails. It never rejects. */
  constructor(
    pieces: AsyncIterable<string | Uint8Array>,
    private readonly beforeFailure: (error: Error) => Promise<void>,
  ) {
    super({ objectMode: true, highWaterMark: 0 });
    this.chunks = pieces[Symbol.asyncIterator]();
  }

  override _read(): void {
    this.chunks.next().then(
      (next) => {
        this.push(next.done === true ? null : next.value);
      },
      async (failure: unknown) => {
        const error = failure as Error;
        await this.beforeFailure(error);
        this.destroy(error);
      },
    );
  }

  /** Ends the iterator, so that it releases its connection. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const ended = this.chunks.return?.() ?? Promise.resolve();
    ended.then(
      () => {
        done(error);
      },
      (failure: unknown) => {
        done(error ?? (failure as Error));
      },
    );
  }
}
