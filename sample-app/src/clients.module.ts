import { Module } from '@nestjs/common';
import { JsonServerFilter, JsonServerOrdering, JsonServerPagination, JsonServerSearch, PageNumberPagination, RestifyModule } from 'nestjs-restify';
import { AppModule } from './app.module.js';

/** The application, and its models once more for react-admin (`admin/v1`) and for refine (`json/v1`): docs/clients.md. */
@Module({
  imports: [
    AppModule,
    RestifyModule.forRoot('admin/v1', { pagination: new PageNumberPagination() }),
    RestifyModule.forRoot('json/v1', { pagination: new JsonServerPagination(), filterBackends: [JsonServerFilter, JsonServerSearch, JsonServerOrdering] }),
  ],
})
export class ClientsModule {}
