/**
 * Keeps statements out of somebody else's transaction where a data source has one connection only (SQLite): a
 * transaction waits for the one before it, and everything else waits for the transaction. Elsewhere it lets all pass.
 *
 * It knows of the transactions of this adapter; one that the application begins itself on the same data source is not
 * seen here.
 */
export class ConnectionGate {
  private busy: Promise<void> | undefined;

  constructor(private readonly oneConnection: boolean) {}

  /** Runs one statement, outside of every transaction. */
  async pass<Result>(statement: () => Promise<Result>): Promise<Result> {
    while (this.busy) await this.busy;
    return statement();
  }

  /** Runs alone. */
  async hold<Result>(transaction: () => Promise<Result>): Promise<Result> {
    if (!this.oneConnection) return transaction();
    while (this.busy) await this.busy;
    let open = (): void => undefined;
    this.busy = new Promise((resolve) => {
      open = resolve;
    });
    try {
      return await transaction();
    } finally {
      this.busy = undefined;
      open();
    }
  }
}
