import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { STORES_RESPONSES } from '../../../core/contracts/idempotency.js';

/**
 * Where answers are kept for requests with an `Idempotency-Key`: put it among the entities of the data source. Its rows
 * are nobody's to read, write or serve. Holds digests of keys, callers and requests, and no such thing itself.
 *
 * A long answer is cut into parts; part 0 is the claim.
 */
@Entity({ name: 'restify_idempotency' })
export class IdempotencyRecord {
  static readonly [STORES_RESPONSES] = true;

  @PrimaryColumn({ name: 'id', type: 'varchar', length: 64 })
  id: string;

  @PrimaryColumn({ name: 'part', type: 'int' })
  part: number;

  /** Whose claim it is; null when it is answered. */
  @Column({ name: 'token', type: 'varchar', length: 36, nullable: true })
  token: string | null;

  @Column({ name: 'fingerprint', type: 'varchar', length: 64, nullable: true })
  fingerprint: string | null;

  /** When a claim that is not answered may be taken over; milliseconds of Unix time. */
  @Column({ name: 'lease', type: 'bigint', nullable: true })
  lease: number | null;

  /** When the record means nothing any more. */
  @Index('restify_idempotency_ends')
  @Column({ name: 'ends', type: 'bigint' })
  ends: number;

  /** JSON in ASCII. */
  @Column({ name: 'answer', type: 'text', nullable: true })
  answer: string | null;
}
