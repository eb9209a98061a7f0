// @tags core
import { expect, test } from '@jest/globals';
import { AllowAny, CsvRenderer, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

const asNumber = { to: (value?: number | null) => value?.toString(), from: Number };

@Restify({
  app: 'cnn',
  permissions: [AllowAny],
  type: { size: 'number' },
  computed: { half: (each: CnnPart) => -1 / each.zero },
  renderers: [new CsvRenderer()],
})
@Entity('cnn_part')
class CnnPart {
  @PrimaryGeneratedColumn() id: number;
  @Column('varchar', { nullable: true, transformer: asNumber }) size: number | null;
  @Column('int', { default: 0 }) zero: number;
}

test('numbers that JSON shows as null are empty in CSV', async () => {
  const started = await startApp({ entities: [CnnPart] });
  await started.dataSource.query("INSERT INTO cnn_part (size) VALUES ('large')");
  const json = await started.client.get('/rest/v1/cnn/cnnpart/');
  const csv = await started.client.get('/rest/v1/cnn/cnnpart/?format=csv');
  await started.close();
  expect(json.json).toEqual([{ id: 1, size: null, zero: 0, half: null }]);
  expect(csv.text.trim().split(/\r?\n/)).toEqual(['id,size,zero,half', '1,,0,']);
});
