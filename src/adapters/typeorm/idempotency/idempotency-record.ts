import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { STORES_RESPONSES } from '../../../core/contracts/idempotency.js';

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
