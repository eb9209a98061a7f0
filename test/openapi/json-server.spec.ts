// @tags core
import { expect, test } from '@jest/globals';
import { JsonServerFilter, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';

@Restify({
  app: 'js',
  filterBackends: [JsonServerFilter],
  filterFields: { votes: ['exact', 'gte'], is_exact: ['exact'], text: ['icontains', 'ne'] },
})
@Entity()
class Told {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'int' }) votes: number;
  @Column({ type: 'boolean' }) is_exact: boolean;
  @Column() text: string;
}

test("the parameters of json-server's dialect are described by their types", async () => {
  const started = await startApp({ entities: [Told] });
  try {
    const list = documentOf(started.app).paths['/rest/v1/js/told']?.get;
    expect(list && parametersOf(list, 'query')).toMatchObject({
      votes: { type: 'integer' },
      votes_gte: { type: 'integer' },
      is_exact: { type: 'boolean' },
      text_like: { type: 'string' },
      text_ne: { type: 'string' },
    });
    const texts = Object.fromEntries(
      (list?.parameters as readonly { readonly name: string; readonly description?: string }[]).map(
        ({ name, description }) => [name, description],
      ),
    );
    expect(texts).toMatchObject({
      votes_gte: '`votes` is greater than or equal to this value.',
      is_exact: '`is_exact` equals this value.',
      text_like: '`text` contains this text, case-insensitively.',
      text_ne: '`text` differs from this value, or is null.',
    });
    expect((await started.client.get('/rest/v1/js/told/?votes_gte=1&text_like=a')).status).toBe(200);
  } finally {
    await started.close();
  }
});
