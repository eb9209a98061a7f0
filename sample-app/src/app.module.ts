import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, RestifyModule } from 'nestjs-restify';
import cluster from 'node:cluster';
import { ClubModule } from './club/club.module.js';
import { DeskModule } from './desk/desk.module.js';
import { dataSourceOptions } from './data-source-options.js';

@Module({
  imports: [
    // In a cluster, the tables are created before the workers start (`prepare-database.ts`).
    TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...dataSourceOptions(process.env), migrationsRun: !cluster.isWorker }),
    }),
    // Models without permissions, and the pairs of their relations, are intentionally open to everyone.
    RestifyModule.forRoot('rest/v1', { permissions: [AllowAny], browsable: true }),
    ClubModule,
    DeskModule,
  ],
})
export class AppModule {}
