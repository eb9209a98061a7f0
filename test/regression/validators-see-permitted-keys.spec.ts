// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { registerDecorator, ValidateIf, Validate, ValidatorConstraint } from 'class-validator';
import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSource, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Visible implements Permission {
  decide(): Grant {
    return allow({ rows: where('hidden', false) });
  }
}

@Restify({ app: 'seen', permissions: [Visible] })
@Entity('seen_maker')
class Maker {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @Column() hidden: boolean;
}

const seen: unknown[] = [];
let source: DataSource;

/** Throws an error that tells the name of the maker, as a validator with access to the database may. */
async function refuseMaker(object: unknown): Promise<boolean> {
  const { maker } = object as { readonly maker?: { readonly id: number } | null };
  if (!maker) return true;
  seen.push(maker.id);
  const { name } = await source.getRepository(Maker).findOneByOrFail({ id: maker.id });
  if (name !== 'good') throw new ConflictException(`${name} is closed`);
  return true;
}

@ValidatorConstraint({ async: true })
class OfGoodMaker implements ValidatorConstraintInterface {
  validate(_: unknown, { object }: ValidationArguments = {} as ValidationArguments): Promise<boolean> {
    return refuseMaker(object);
  }
}

/** A decorator of the application. */
function IsOfGoodMaker(): PropertyDecorator {
  return (target, propertyName) => {
    registerDecorator({
      name: 'isOfGoodMaker',
      target: target.constructor,
      propertyName: String(propertyName),
      validator: { validate: (_: unknown, args?: ValidationArguments) => refuseMaker(args?.object) },
    });
  };
}

@Restify('seen')
@Entity('seen_product')
class Product {
  @PrimaryGeneratedColumn() id: number;
  @Validate(OfGoodMaker) @Column() name: string;
  @ManyToOne(() => Maker, { nullable: true }) maker: Relation<Maker> | null;
}

@Restify('seen')
@Entity('seen_ware')
class Ware {
  @PrimaryGeneratedColumn() id: number;
  @IsOfGoodMaker() @Column() name: string;
  @ManyToOne(() => Maker, { nullable: true }) maker: Relation<Maker> | null;
}

@Restify('seen')
@Entity('seen_part')
class Part {
  @PrimaryGeneratedColumn() id: number;
  @ValidateIf((part: Part) => {
    if (part.maker) seen.push(part.maker.id);
    return true;
  })
  @Column()
  name: string;

  @ManyToOne(() => Maker, { nullable: true }) maker: Relation<Maker> | null;
}

onEachDatabase('validators of the application', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Maker, Product, Ware, Part], database, compare: false });
    source = started.dataSource;
    await source.getRepository(Maker).insert([
      { id: 1, name: 'good', hidden: false },
      { id: 2, name: 'Secret Corporation', hidden: true },
    ]);
  });
  afterAll(() => started.close());

  test.each(['product', 'ware', 'part'])(
    'of a %s see no key that the caller may not refer to',
    async (model) => {
      const { client } = started;
      const url = `/rest/v1/seen/${model}/`;
      const { id } = (await client.post(url, { name: 'first' })).json as { id: number };
      seen.length = 0;
      for (const maker of [2, 99]) {
        const expected = [400, { maker: [`Invalid pk "${maker}" - object does not exist.`] }];
        const answers = [
          await client.post(url, { name: 'a', maker }),
          await client.patch(`${url}${id}/`, { maker }),
          await client.put(`${url}${id}/`, { name: 'b', maker }),
        ];
        for (const { status, json } of answers) expect([status, json]).toEqual(expected);
      }
      expect(seen).toEqual([]);
      expect((await client.post(url, { name: 'a', maker: 1 })).status).toBe(201);
      expect((await client.patch(`${url}${id}/`, { maker: 1 })).status).toBe(200);
      expect(new Set(seen)).toEqual(new Set([1]));
    },
  );
});
