// @tags nest
import { expect, test } from '@jest/globals';
import { IsAuthenticated, Restify, RestifyModule } from 'nestjs-restify';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify('twice')
@Entity()
class TwiceThing {
  @PrimaryGeneratedColumn() id: number;
}

test.each([
  ['rest/v1', 'rest/v1'],
  ['rest/v1', '/rest/v1/'],
])('a prefix that is given twice is an error at start: %s and %s', async (first, second) => {
  const restifyModules = [
    RestifyModule.forRoot(first),
    RestifyModule.forRoot(second, { permissions: [IsAuthenticated] }),
  ];
  await expect(startApp({ entities: [TwiceThing], restifyModules })).rejects.toThrow(
    "RestifyModule.forRoot('rest/v1'): the prefix is given twice. Give each forRoot a prefix of its own.",
  );
});
