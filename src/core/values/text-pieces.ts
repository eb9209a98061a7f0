/** What stands before, between and behind the pieces of a text. */
export interface Frame {
  readonly first: string;
  readonly separator: string;
  readonly end: string;
}

export const JSON_ARRAY: Frame = { first: '[', separator: ',', end: ']' };

export const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The pieces of a long text, in a frame if there is one: empty pieces are then left out. It refers to no piece that it has
 * returned, as the frame of a generator would: the pieces of all lists that wait for their turn would be copied by each garbage
 * collection of the young generation.
 */
export class TextPieces implements AsyncIterableIterator<string> {
  private hasBegun = false;
  private hasEnded = false;

  /** @param held the pieces that have been read already. */
  constructor(
    private readonly held: string[],
    private readonly rest: AsyncIterator<string>,
    private readonly frame?: Frame,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    if (this.hasEnded) return DONE;
    const { frame } = this;
    try {
      for (;;) {
        const read = this.held.length > 0 ? this.takeHeld() : await this.rest.next();
        if (read.done === true) return await this.end();
        if (!frame) return read;
        if (read.value === '') continue;
        const value = (this.hasBegun ? frame.separator : frame.first) + read.value;
        this.hasBegun = true;
        return { done: false, value };
      }
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<string>> {
    this.hasEnded = true;
    this.held.length = 0;
    await this.rest.return?.();
    return DONE;
  }

  private takeHeld(): IteratorResult<string> {
    return { done: false, value: this.held.shift() as string };
  }

  private async end(): Promise<IteratorResult<string>> {
    await this.return();
    const { frame, hasBegun } = this;
    return frame ? { done: false, value: hasBegun ? frame.end : frame.first + frame.end } : DONE;
  }
}
