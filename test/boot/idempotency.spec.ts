// @tags nest
import { describe, expect, test } from '@jest/globals';
import { IdempotencyRecord, restify } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { restoreDeclarationsOf } from '../support/restore.js';
import { declareUnchecked, problemsOf } from './refused-start.js';

@Entity('boot_payment')
class Payment {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('boot_wallet')
class Wallet {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Payment) @JoinTable() payments: Relation<Payment[]>;
}

const REPAIR =
  'Write true, false or { require: true, life: 3600 }, with either of the two, and key: (actor) => … where actors have no id.';
const LIFE =
  'this is not a valid time to keep responses. Give whole seconds, above 0 and up to 2592000; without the option they are 86400.';
const UNKEPT =
  "the data source has no table for the stored responses. Add IdempotencyRecord of 'nestjs-restify' to the data source's entities, and make its table, restify_idempotency, by a migration or synchronize.";

describe('Idempotency-Key refuses to start', () => {
  restoreDeclarationsOf(IdempotencyRecord);

  test.each([
    ['a text', 'yes', [`Payment.idempotency: this does not configure Idempotency-Key. ${REPAIR}`]],
    ['null', null, [`Payment.idempotency: this does not configure Idempotency-Key. ${REPAIR}`]],
    [
      'an unknown option',
      { required: true },
      [`Payment.idempotency.required: "required" is not an option of Idempotency-Key. ${REPAIR}`],
    ],
    [
      'no flag',
      { require: 'POST' },
      [`Payment.idempotency.require: this is neither true nor false. ${REPAIR}`],
    ],
    [
      'no function',
      { key: 'id' },
      [
        'Payment.idempotency.key: this is not a function. Write key: (actor) => actor.email, with what tells one caller from another.',
      ],
    ],
    ...[0, -1, 1.5, NaN, Infinity, '60', 2_592_001].map(
      (life) => [`a life of ${life}`, { life }, [`Payment.idempotency.life: ${LIFE}`]] as const,
    ),
  ] as const)('with %s', async (_, idempotency, problems) => {
    declareUnchecked(Payment, { app: 'boot', idempotency });
    expect(await problemsOf({ entities: [Payment, IdempotencyRecord] })).toEqual(problems);
  });

  test.each([true, false, {}, { require: true, life: 1, key: () => 'x' }, { life: 2_592_000 }])(
    'and not with %j',
    async (idempotency) => {
      restify(Payment, { app: 'boot', idempotency });
      await expect(problemsOf({ entities: [Payment, IdempotencyRecord] })).rejects.toThrow(
        'The application has started.',
      );
    },
  );

  test('without a table for the answers, wherever the option stands', async () => {
    restify(Payment, { app: 'boot', idempotency: true });
    restify(Wallet, {
      app: 'boot',
      idempotency: false,
      through: { payments: { idempotency: { require: true } } },
    });
    expect(await problemsOf({ entities: [Payment, Wallet], restify: { idempotency: { life: 60 } } })).toEqual(
      [
        `RestifyModule.forRoot('rest/v1').idempotency: ${UNKEPT}`,
        `Payment.idempotency: ${UNKEPT}`,
        `Wallet.through.payments.idempotency: ${UNKEPT}`,
      ],
    );
  });

  test('and not without it where no model uses it', async () => {
    restify(Payment, { app: 'boot', idempotency: false });
    await expect(problemsOf({ entities: [Payment], restify: { idempotency: false } })).rejects.toThrow(
      'The application has started.',
    );
  });

  test('where the table is served', async () => {
    restify(Payment, { app: 'boot' });
    declareUnchecked(IdempotencyRecord, { app: 'boot' });
    expect(await problemsOf({ entities: [Payment, IdempotencyRecord] })).toEqual([
      'IdempotencyRecord: it stores the responses of all callers, and must not be served. Take the declaration away, and leave the class among the entities of the data source.',
    ]);
  });
});
