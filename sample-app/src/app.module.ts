import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, RestifyModule } from 'nestjs-restify';
import cluster from 'node:cluster';
import { ClubModule } from './club/club.module.js';
import { dataSourceOptions } from './data-source-options.js';

@Module({
  imports: [
    // A worker of a cluster finds its tables made (`prepare-database.ts`).
    TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...dataSourceOptions(process.env), migrationsRun: !cluster.isWorker }),
    }),
    // Models that name no permissions are open, and so are the pairs of their relations: it is meant.
    RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
    ClubModule,
  ],
})
export class AppModule {}
