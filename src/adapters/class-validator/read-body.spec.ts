import { expect, test } from '@jest/globals';
import 'reflect-metadata';
import {
  ArrayMaxSize,
  getMetadataStorage,
  IsBoolean,
  IsDate,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { readBody } from './read-body.js';
import type { ValidationMetadataLike } from './read-rules.js';

enum Size {
  Small = 'small',
  Large = 'large',
}

class Place {
  @Length(2, 5)
  room: string;

  @ValidateNested()
  inner: Place;
}

class Base {
  @IsEmail()
  mail: string;
}

class Sample extends Base {
  @IsInt()
  @Min(1)
  @Max(9)
  amount: number;

  @Min(0)
  weight: number;

  @IsOptional()
  @IsString()
  note?: string;

  @IsBoolean()
  fragile: boolean;

  @IsDate()
  due: Date;

  @IsEnum(Size)
  size: Size;

  @IsIn(['a', 'b'], { each: true })
  marks: string[];

  @ArrayMaxSize(3)
  parts: string[];

  @ValidateNested()
  place: Place;

  @ValidateIf((sample: Sample) => sample.fragile)
  @IsString()
  reason: string;

  undecorated: string;
}

const metadataOf = (type: unknown): readonly ValidationMetadataLike[] =>
  getMetadataStorage().getTargetValidationMetadatas(type as never, '', true, false);

test('names the types of properties by their decorators, and by the types that TypeScript emits', () => {
  const body = readBody(Sample, metadataOf);
  expect(Object.fromEntries([...body].map(([name, { type, required }]) => [name, [type, required]]))).toEqual(
    {
      mail: ['email', true],
      amount: ['integer', true],
      weight: ['float', true],
      note: ['string', false],
      fragile: ['boolean', true],
      due: ['datetime', true],
      size: ['choice', true],
      marks: ['multiple choice', true],
      parts: ['list', true],
      place: ['nested object', true],
      reason: ['string', false],
    },
  );
});

test('has the limits and values of the decorators', () => {
  const body = readBody(Sample, metadataOf);
  expect(body.get('amount')?.rules).toMatchObject({ minimum: 1, maximum: 9 });
  expect(body.get('size')?.rules.values).toEqual(['small', 'large']);
  expect(body.get('marks')?.rules.values).toEqual(['a', 'b']);
  expect(body.get('place')?.children?.get('room')?.rules).toMatchObject({ minLength: 2, maxLength: 5 });
});

test('ends at a class within itself', () => {
  const inner = readBody(Sample, metadataOf).get('place')?.children?.get('inner');
  expect([inner?.type, inner?.children]).toEqual(['field', undefined]);
});

class Undecorated {
  text = '';
}

test.each([undefined, Object, String, Undecorated])('of %p has no properties', (type) => {
  expect(readBody(type, metadataOf).size).toBe(0);
});
