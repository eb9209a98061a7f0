import { randomUUID } from 'node:crypto';
import {
  Between,
  In,
  IsNull,
  LessThanOrEqual,
  MoreThan,
  Column,
  Entity,
  Index,
  PrimaryColumn,
} from 'typeorm';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { storesResponses, STORES_RESPONSES } from '../../../core/contracts/idempotency.js';
import type {
  Claim,
  ClaimOutcome,
  ClaimRequest,
  IdempotencyStore,
} from '../../../core/contracts/idempotency.js';
import { isRestException } from '../../../core/errors/rest-exception.js';
import {
  CLAIM_LEASE,
  EXPIRED_RECORDS,
  EXPIRY_INTERVAL,
  EXPIRY_RESCAN_INTERVAL,
  ANSWER_PART,
} from '../../../core/schema/limits.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { ConnectionManager } from '../../../execution/connection/connection-manager.js';

/**
 * Stores the responses to requests with an `Idempotency-Key`. Add it to the entities of the data source; the application must
 * neither serve nor change its rows. It contains hashes of keys, callers and requests, never their text.
 *
 * A long response is divided into several rows; part 0 is also the claim.
 */
@Entity({ name: 'restify_idempotency' })
export class IdempotencyRecord {
  static readonly [STORES_RESPONSES] = true;

  @PrimaryColumn({ name: 'id', type: 'varchar', length: 64 })
  id: string;

  @PrimaryColumn({ name: 'part', type: 'int' })
  part: number;

  /** Identifies the request that holds the claim; null once the response is stored. */
  @Column({ name: 'token', type: 'varchar', length: 36, nullable: true })
  token: string | null;

  @Column({ name: 'fingerprint', type: 'varchar', length: 64, nullable: true })
  fingerprint: string | null;

  /** When another request may take over a claim without a response; in milliseconds of Unix time. */
  @Column({ name: 'lease', type: 'bigint', nullable: true })
  lease: number | null;

  /** When the record expires; in milliseconds of Unix time. */
  @Index('restify_idempotency_ends')
  @Column({ name: 'ends', type: 'bigint' })
  ends: number;

  /** JSON in ASCII. */
  @Column({ name: 'answer', type: 'text', nullable: true })
  answer: string | null;
}

/** The maximum number of attempts to claim a key: an attempt fails if a concurrent request changes the record. */
const MAX_CLAIM_ATTEMPTS = 5;

/** A stored record with all parts of its response. */
interface StoredRecord {
  readonly token: string | null;
  readonly fingerprint: string;
  readonly lease: number;
  readonly ends: number;
  readonly answer: string;
}

/**
 * Stores responses in the application's database, as rows of `IdempotencyRecord`. The primary key ensures that only one of
 * several requests can insert the claim; each later step requires the token of the claim.
 */
export class TypeOrmIdempotencyStore implements IdempotencyStore {
  private readonly target: typeof IdempotencyRecord | undefined;
  private nextRemoval = 0;
  /**
   * The expiry of the last record that was deleted. While an old snapshot is open, the database reads the entries of deleted records again
   * in each search that begins before them.
   */
  private removedUntil = 0;
  private nextRescan = 0;

  constructor(
    dataSource: DataSource,
    private readonly tools: {
      readonly connections: ConnectionManager<QueryRunner>;
      readonly dialect: Dialect;
    },
  ) {
    this.target = dataSource.entityMetadatas.map(({ target }) => target).find(storesResponses) as
      typeof IdempotencyRecord | undefined;
  }

  async claim(request: ClaimRequest): Promise<ClaimOutcome> {
    const outcome = await this.tryClaim(request);
    if (outcome.kind === 'claimed') await this.removeExpired();
    return outcome;
  }

  private async tryClaim(request: ClaimRequest): Promise<ClaimOutcome> {
    for (let attempts = 0; attempts < MAX_CLAIM_ATTEMPTS; attempts++) {
      const claim = { id: request.id, token: randomUUID(), ends: Date.now() + request.life * 1000 };
      if (await this.insert(claim, request)) return { kind: 'claimed', claim };
      const stored = await this.find(request.id);
      if (!stored) continue;
      const now = Date.now();
      // After the end of its lease, a claim has no effect: its request can no longer commit once another one has taken it over.
      const isExpired = stored.ends <= now || (stored.token !== null && stored.lease <= now);
      if (!isExpired && stored.fingerprint !== request.fingerprint) return { kind: 'other' };
      if (!isExpired)
        return stored.token === null ? { kind: 'completed', response: stored.answer } : { kind: 'running' };
      if (await this.takeOver(stored, claim, request)) return { kind: 'claimed', claim };
    }
    return { kind: 'running' };
  }

  async complete({ id, token, ends }: Claim, response: string, transaction: object): Promise<boolean> {
    const manager = transaction as EntityManager;
    const [first = '', ...more] = partsOf(asciiJson(response));
    const { affected } = await manager
      .createQueryBuilder()
      .update(this.record)
      .set({ token: null, lease: null, answer: first })
      .where({ id, part: 0, token })
      .callListeners(false)
      .execute();
    if (affected === 0) return false;
    for (const [index, part] of more.entries()) {
      await manager
        .createQueryBuilder()
        .insert()
        .into(this.record)
        .values({ id, part: index + 1, ends, answer: part })
        .callListeners(false)
        .updateEntity(false)
        .execute();
    }
    return true;
  }

  async release({ id, token }: Claim): Promise<void> {
    await this.tools.connections.transact(({ manager }) =>
      manager
        .createQueryBuilder()
        .delete()
        .from(this.record)
        .where({ id, part: 0, token })
        .callListeners(false)
        .execute(),
    );
  }

  /** False if a record with this id exists. */
  private async insert({ id, token, ends }: Claim, { fingerprint }: ClaimRequest): Promise<boolean> {
    const values = { id, part: 0, token, fingerprint, ends, lease: Date.now() + CLAIM_LEASE * 1000 };
    try {
      await this.tools.connections.transact(({ manager }) =>
        manager
          .createQueryBuilder()
          .insert()
          .into(this.record)
          .values(values)
          .callListeners(false)
          .updateEntity(false)
          .execute(),
      );
      return true;
    } catch (error) {
      if (!isRestException(error) && this.tools.dialect.errorFor(error)?.kind === 'unique') return false;
      throw error;
    }
  }

  /** Reads all parts with one statement, so that they belong to the same response. */
  private async find(id: string): Promise<StoredRecord | undefined> {
    const parts = await this.tools.connections.reading('primary', ({ manager }) =>
      manager
        .createQueryBuilder()
        .select('record.token', 'token')
        .addSelect('record.fingerprint', 'fingerprint')
        .addSelect('record.lease', 'lease')
        .addSelect('record.ends', 'ends')
        .addSelect('record.answer', 'answer')
        .from(this.record, 'record')
        .where({ id })
        .orderBy('record.part')
        .getRawMany<Readonly<Record<keyof StoredRecord, string | number | null>>>(),
    );
    const [first] = parts;
    return (
      first && {
        token: first.token === null ? null : String(first.token),
        fingerprint: String(first.fingerprint),
        lease: Number(first.lease),
        ends: Number(first.ends),
        answer: parts.map(({ answer }) => String(answer)).join(''),
      }
    );
  }

  /** False if the record has changed since it was read. */
  private takeOver(
    stored: StoredRecord,
    { id, token, ends }: Claim,
    { fingerprint }: ClaimRequest,
  ): Promise<boolean> {
    return this.tools.connections.transact(async ({ manager }) => {
      const { affected } = await manager
        .createQueryBuilder()
        .update(this.record)
        .set({ token, fingerprint, ends, lease: Date.now() + CLAIM_LEASE * 1000, answer: null })
        .where({ id, part: 0, ends: stored.ends, token: stored.token ?? IsNull() })
        .callListeners(false)
        .execute();
      if (affected === 0) return false;
      await manager
        .createQueryBuilder()
        .delete()
        .from(this.record)
        .where({ id, part: MoreThan(0) })
        .callListeners(false)
        .execute();
      return true;
    });
  }

  /** Deletes some expired records. Called by requests, so that no timer is necessary. Errors are ignored. */
  private async removeExpired(): Promise<void> {
    const now = Date.now();
    if (now < this.nextRemoval) return;
    this.nextRemoval = now + EXPIRY_INTERVAL * 1000;
    if (now >= this.nextRescan) {
      this.nextRescan = now + EXPIRY_RESCAN_INTERVAL * 1000;
      this.removedUntil = 0;
    }
    try {
      const { connections } = this.tools;
      const expired = await connections.reading('primary', ({ manager }) =>
        manager
          .createQueryBuilder()
          .select('record.id', 'id')
          .addSelect('record.ends', 'ends')
          .from(this.record, 'record')
          .where({ part: 0, ends: Between(this.removedUntil, now) })
          .orderBy('record.ends')
          .limit(EXPIRED_RECORDS)
          .getRawMany<{ readonly id: string; readonly ends: string | number }>(),
      );
      if (expired.length === 0) return;
      const ids = expired.map(({ id }) => id);
      // A record that was taken over meanwhile expires later.
      await connections.transact(({ manager }) =>
        manager
          .createQueryBuilder()
          .delete()
          .from(this.record)
          .where({ id: In(ids), ends: LessThanOrEqual(now) })
          .callListeners(false)
          .execute(),
      );
      this.removedUntil = Number(expired.at(-1)?.ends);
      if (expired.length === EXPIRED_RECORDS) this.nextRemoval = now;
    } catch {
      // Repeated by a later request.
    }
  }

  /** Verified at boot to exist. */
  private get record(): typeof IdempotencyRecord {
    if (!this.target) throw new Error('IdempotencyRecord is not among the entities of the data source.');
    return this.target;
  }
}

/** Escapes all characters beyond ASCII, so that the JSON does not depend on the character set of the database, and can be divided anywhere. */
function asciiJson(json: string): string {
  return json.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Divides a text into parts that fit in a column, at least one. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < text.length; at += ANSWER_PART)
    parts.push(text.slice(at, at + ANSWER_PART));
  return parts;
}
