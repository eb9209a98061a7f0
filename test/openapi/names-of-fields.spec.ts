// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CsvRenderer, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';
import type { PlainDocument } from './document.js';

class Size {
  @Column()
  height: number;
}

@Restify({ app: 'named', strict: true, shape: true, expandable: ['whole'], renderers: [new CsvRenderer()] })
@Entity('named_part')
class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @Column(() => Size)
  size: Size;

  @ManyToOne(() => Part, { nullable: true })
  whole: Relation<Part> | null;
}

@Restify({ app: 'named', shape: true })
@Entity('named_other')
class Other {
  @PrimaryGeneratedColumn()
  id: number;
}

let started: StartedApp;
let document: PlainDocument;
beforeAll(async () => {
  started = await startApp({ entities: [Part, Other] });
  document = documentOf(started.app);
});
afterAll(() => started.close());

function itemOf(path: string, name: string): { readonly type: string; readonly pattern?: string } {
  const operation = document.paths[path]?.get;
  if (!operation) throw new Error(`No ${path}`);
  return (parametersOf(operation, 'query')[name] as { items: { type: string; pattern?: string } }).items;
}

test.each(['id', 'size', 'size.height', 'whole', 'whole.size.height', 'no', 'size.no', 'id.no', 'ids'])(
  'a strict model describes whether %s is the name of a field',
  async (name) => {
    const { status } = await started.client.get(`/rest/v1/named/part/?expand=whole&fields=${name}`);
    const { pattern = '' } = itemOf('/rest/v1/named/part', 'fields');
    expect(new RegExp(pattern).test(name)).toBe(status === 200);
    expect(itemOf('/rest/v1/named/part', 'omit').pattern).toBe(pattern);
  },
);

test('a model that ignores other names takes any', () => {
  expect(itemOf('/rest/v1/named/other', 'fields')).toEqual({ type: 'string' });
});

test('the headers of other forms are described', async () => {
  await started.client.post('/rest/v1/named/part/', { size: { height: 1 } });
  for (const [path, url] of [
    ['/rest/v1/named/part', '/rest/v1/named/part/'],
    ['/rest/v1/named/part/{pk}', '/rest/v1/named/part/1/'],
  ] as const) {
    const { headers } = await started.client.get(`${url}?format=csv`);
    expect(headers['content-disposition']).toBe('attachment; filename="part.csv"');
    const response = document.paths[path]?.get?.responses['200'] as { readonly headers: object };
    expect(Object.keys(response.headers)).toContain('Content-Disposition');
  }
  const created = document.paths['/rest/v1/named/part']?.post?.responses['201'] as {
    readonly headers: object;
  };
  expect(Object.keys(created.headers)).not.toContain('Content-Disposition');
});
