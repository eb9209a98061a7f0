// @tags nest
import { describe, expect, test } from '@jest/globals';
import { CursorPagination, LimitOffsetPagination, PageNumberPagination, restify } from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, entityOf, problemsOf } from './refused-start.js';

describe('a pagination refuses to start', () => {
  test.each([
    [
      'pageSize: 0',
      new PageNumberPagination({ pageSize: 0 }),
      ['Thing.pagination.pageSize: 0 is not a valid number of rows. Give a whole number above 0.'],
    ],
    [
      'pageSize: 1.5',
      new PageNumberPagination({ pageSize: 1.5 }),
      ['Thing.pagination.pageSize: 1.5 is not a valid number of rows. Give a whole number above 0.'],
    ],
    [
      'maxPageSize: NaN',
      new LimitOffsetPagination({ maxPageSize: Number.NaN }),
      [
        'Thing.pagination.pageSize: NaN is not a valid number of rows. Give a whole number above 0.',
        'Thing.pagination.maxPageSize: NaN is not a valid number of rows. Give a whole number above 0.',
      ],
    ],
    [
      'a page above the greatest',
      new LimitOffsetPagination({ pageSize: 20, maxPageSize: 10 }),
      ['Thing.pagination.pageSize: 20 is more than maxPageSize, 10. Raise maxPageSize, or lower pageSize.'],
    ],
    [
      'maxOffset: -1',
      new LimitOffsetPagination({ maxOffset: -1 }),
      [
        'Thing.pagination.maxOffset: -1 is not a valid number of rows. Give a whole number, or Number.MAX_SAFE_INTEGER for no bound.',
      ],
    ],
    [
      'maxOffset: Infinity',
      new PageNumberPagination({ maxOffset: Infinity }),
      [
        'Thing.pagination.maxOffset: Infinity is not a valid number of rows. Give a whole number, or Number.MAX_SAFE_INTEGER for no bound.',
      ],
    ],
    [
      'an empty name',
      new PageNumberPagination({ pageParameter: '' }),
      [
        'Thing.pagination.pageParameter: "" is not a valid name of a query parameter. Give a text that is not empty.',
      ],
    ],
    [
      'two parameters of one name',
      new LimitOffsetPagination({ limitParameter: 'x', offsetParameter: 'x' }),
      [
        'Thing.pagination: its query parameter "x" is already used for something else. Give the pagination another parameter.',
      ],
    ],
    [
      'the parameter of a filter backend',
      new PageNumberPagination({ pageParameter: 'search' }),
      [
        'Thing.pagination: its query parameter "search" is already used for something else. Give the pagination another parameter.',
      ],
    ],
    [
      'another style',
      new PageNumberPagination({ style: 'header' as 'headers' }),
      [`Thing.pagination.style: "header" is not a style. Write 'envelope' or 'headers'.`],
    ],
    [
      'another count',
      new PageNumberPagination({ count: true as unknown as false }),
      [`Thing.pagination.count: "true" is not a counting mode. Write 'exact', 'estimated' or false.`],
    ],
    [
      'countUpTo: 0',
      new PageNumberPagination({ countUpTo: 0 }),
      ['Thing.pagination.countUpTo: 0 is not a valid number of rows. Give a whole number above 0.'],
    ],
    [
      'countUpTo of another type, and countKind, too',
      new LimitOffsetPagination({
        countUpTo: '5' as unknown as number,
        countKind: 'yes' as unknown as boolean,
      }),
      [
        'Thing.pagination.countUpTo: 5 is not a valid number of rows. Give a whole number above 0.',
        'Thing.pagination.countKind: "yes" is not a boolean. Write true or false.',
      ],
    ],
    [
      'no secret',
      new CursorPagination({ secret: undefined }),
      [
        'Thing.pagination.secret: cursors are encrypted with it, and it is missing. Give a random text, the same in all processes of the application: secret: process.env.CURSOR_SECRET.',
      ],
    ],
    [
      'a short secret among others',
      new CursorPagination({ secret: ['long enough to be a secret of this house', 'short'] }),
      [
        'Thing.pagination.secret: cursors are encrypted with it, and it has less than 32 characters. Give a random text, the same in all processes of the application: secret: process.env.CURSOR_SECRET.',
      ],
    ],
    [
      'what is none',
      PageNumberPagination,
      [
        'Thing.pagination: this is not a pagination. Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.',
      ],
    ],
    [
      'true',
      true,
      [
        'Thing.pagination: this is not a pagination. Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.',
      ],
    ],
    [
      'options alone',
      { pageSize: 3 },
      [
        'Thing.pagination: this is not a pagination. Write new PageNumberPagination(), new LimitOffsetPagination() or new CursorPagination({ secret }), or false for none.',
      ],
    ],
  ])('with %s', async (_, pagination, problems) => {
    const Thing = entityOf('Thing');
    declareUnchecked(Thing, { app: 'boot', pagination });
    expect(await problemsOf({ entities: [Thing] })).toEqual(problems);
  });

  test('as the default of a prefix', async () => {
    const Plain = entityOf('Plain');
    restify(Plain, { app: 'boot' });
    expect(
      await problemsOf({
        entities: [Plain],
        restify: { pagination: new PageNumberPagination({ pageSize: -1 }) },
      }),
    ).toEqual([
      "RestifyModule.forRoot('rest/v1').pagination.pageSize: -1 is not a valid number of rows. Give a whole number above 0.",
    ]);
  });

  test('and not for a model that has a field of the name of a parameter', async () => {
    const Book = entityOf('Book', ['page', 'page_size', 'limit']);
    restify(Book, { app: 'boot' });
    await expect(
      problemsOf({ entities: [Book], restify: { pagination: new PageNumberPagination() } }),
    ).rejects.toThrow('The application has started.');
  });

  test('and not for a through model that has a side of the name of a parameter', async () => {
    @Entity('boot_page')
    class Page {
      @PrimaryGeneratedColumn()
      id: number;
    }
    @Entity('boot_album')
    class Album {
      @PrimaryGeneratedColumn()
      id: number;

      @ManyToMany(() => Page)
      @JoinTable()
      pages: Relation<Page[]>;
    }
    restify(Page, { app: 'boot' });
    restify(Album, { app: 'boot', through: { pages: {} } });
    await expect(
      problemsOf({ entities: [Page, Album], restify: { pagination: new PageNumberPagination() } }),
    ).rejects.toThrow('The application has started.');
  });
});
