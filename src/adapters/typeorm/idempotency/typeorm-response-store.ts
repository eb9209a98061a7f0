import { randomUUID } from 'node:crypto';
import { In, IsNull, LessThanOrEqual, MoreThan } from 'typeorm';
import type { DataSource, EntityManager } from 'typeorm';
import { isRestException } from '../../../core/errors/rest-exception.js';
import { storesResponses } from '../../../core/contracts/idempotency.js';
import { CLAIM_LEASE, ENDED_ANSWERS, ENDED_EVERY } from '../../../core/schema/limits.js';
import type {
  IdempotencyStore,
  Claim,
  ClaimOutcome,
  ClaimRequest,
} from '../../../core/contracts/response-store.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { ConnectionManager } from '../connection/connection-manager.js';
import { asciiJson, partsOf } from './response-columns.js';
import type { IdempotencyRecord } from './idempotency-record.js';

/** Looks at a key before a request is told that another one has it: each ends because somebody else has come first. */
const MAX_LOOKS = 5;

/** A record as it was found, all parts of its answer together. */
interface Found {
  readonly token: string | null;
  readonly fingerprint: string;
  readonly lease: number;
  readonly ends: number;
  readonly answer: string;
}

/**
 * Keeps answers in the application's own database, as rows of `IdempotencyRecord`. A claim is a row of its own key, so that of
 * two that insert it the database refuses one; every step behind it asks for the token that the claim was given.
 */
export class TypeOrmIdempotencyStore implements IdempotencyStore {
  private readonly target: typeof IdempotencyRecord | undefined;
  private nextRemoval = 0;

  constructor(
    dataSource: DataSource,
    private readonly tools: { readonly connections: ConnectionManager; readonly dialect: Dialect },
  ) {
    this.target = dataSource.entityMetadatas.map(({ target }) => target).find(storesResponses) as
      typeof IdempotencyRecord | undefined;
  }

  async claim(request: ClaimRequest): Promise<ClaimOutcome> {
    const outcome = await this.claimed(request);
    if (outcome.kind === 'claimed') await this.removeEnded();
    return outcome;
  }

  private async claimed(request: ClaimRequest): Promise<ClaimOutcome> {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const claim = { id: request.id, token: randomUUID(), ends: Date.now() + request.life * 1000 };
      if (await this.insert(claim, request)) return { kind: 'claimed', claim };
      const found = await this.find(request.id);
      if (!found) continue;
      const now = Date.now();
      // Of a claim whose lease is over nothing was written, and its late request can write nothing behind the one that takes it.
      const isOver = found.ends <= now || (found.token !== null && found.lease <= now);
      if (!isOver && found.fingerprint !== request.fingerprint) return { kind: 'other' };
      if (!isOver)
        return found.token === null ? { kind: 'answered', answer: found.answer } : { kind: 'running' };
      if (await this.takeOver(found, claim, request)) return { kind: 'claimed', claim };
    }
    return { kind: 'running' };
  }

  async complete({ id, token, ends }: Claim, answer: string, transaction: object): Promise<boolean> {
    const manager = transaction as EntityManager;
    const [first = '', ...more] = partsOf(asciiJson(answer));
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

  /** False where there is a record of this id. */
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

  /** By one statement, so that all parts are of one answer. */
  private async find(id: string): Promise<Found | undefined> {
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
        .getRawMany<Readonly<Record<keyof Found, string | number | null>>>(),
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

  /** False where the record has changed since it was found. */
  private takeOver(
    found: Found,
    { id, token, ends }: Claim,
    { fingerprint }: ClaimRequest,
  ): Promise<boolean> {
    return this.tools.connections.transact(async ({ manager }) => {
      const { affected } = await manager
        .createQueryBuilder()
        .update(this.record)
        .set({ token, fingerprint, ends, lease: Date.now() + CLAIM_LEASE * 1000, answer: null })
        .where({ id, part: 0, ends: found.ends, token: found.token ?? IsNull() })
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

  /** A few at a time, and as requests come: no timer holds the process up. That it fails is nobody's error. */
  private async removeEnded(): Promise<void> {
    const now = Date.now();
    if (now < this.nextRemoval) return;
    this.nextRemoval = now + ENDED_EVERY * 1000;
    try {
      const { connections } = this.tools;
      const ended = await connections.reading('primary', ({ manager }) =>
        manager
          .createQueryBuilder()
          .select('record.id', 'id')
          .from(this.record, 'record')
          .where({ part: 0, ends: LessThanOrEqual(now) })
          .orderBy('record.ends')
          .limit(ENDED_ANSWERS)
          .getRawMany<{ readonly id: string }>(),
      );
      if (ended.length === 0) return;
      const ids = ended.map(({ id }) => id);
      // One that was taken over meanwhile ends later.
      await connections.transact(({ manager }) =>
        manager
          .createQueryBuilder()
          .delete()
          .from(this.record)
          .where({ id: In(ids), ends: LessThanOrEqual(now) })
          .callListeners(false)
          .execute(),
      );
      if (ended.length === ENDED_ANSWERS) this.nextRemoval = now;
    } catch {
      // The next one looks again.
    }
  }

  /** Boot has looked whether there is one. */
  private get record(): typeof IdempotencyRecord {
    if (!this.target) throw new Error('IdempotencyRecord is not among the entities of the data source.');
    return this.target;
  }
}
