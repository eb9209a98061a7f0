import { Readable } from 'node:stream';

/**
 * Pieces of a body as a stream, for an HTTP library that takes one. Unlike what `Readable.from` makes, it asks for no piece
 * before the last one is taken: one that waits in memory for each slow client is carried over by each collection of garbage.
 */
export class ChunkStream extends Readable {
  private readonly pieces: AsyncIterator<string>;

  constructor(pieces: AsyncIterable<string>) {
    super({ objectMode: true, highWaterMark: 0 });
    this.pieces = pieces[Symbol.asyncIterator]();
  }

  override _read(): void {
    this.pieces.next().then(
      (next) => {
        this.push(next.done === true ? null : next.value);
      },
      (error: unknown) => {
        this.destroy(error as Error);
      },
    );
  }

  /** Whoever makes the pieces is told that no more are wanted: a connection goes back to its pool. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const ended = this.pieces.return?.() ?? Promise.resolve();
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
