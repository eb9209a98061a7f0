import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RestifyModule } from 'nestjs-restify';
import { ClubModule } from './club/club.module.js';
import { dataSourceOptions } from './data-source-options.js';

@Module({
  imports: [TypeOrmModule.forRootAsync({ useFactory: () => dataSourceOptions(process.env.DATABASE_URL) }), RestifyModule.forRoot('rest/v1'), ClubModule],
})
export class AppModule {}
