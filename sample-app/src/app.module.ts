import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RestifyModule } from 'nestjs-restify';
import cluster from 'node:cluster';
import { ClubModule } from './club/club.module.js';
import { dataSourceOptions } from './data-source-options.js';

@Module({
  imports: [
    // A worker of a cluster finds its tables made (`prepare-database.ts`).
    TypeOrmModule.forRootAsync({ useFactory: () => ({ ...dataSourceOptions(process.env), migrationsRun: !cluster.isWorker }) }),
    RestifyModule.forRoot('rest/v1'),
    ClubModule,
  ],
})
export class AppModule {}
