import { Module } from '@nestjs/common';
import {
  AllowAny,
  JsonServerFilter,
  JsonServerOrdering,
  JsonServerPagination,
  JsonServerSearch,
  PageNumberPagination,
  RestifyModule,
} from 'nestjs-restify';
import { AppModule } from './app.module.js';

/** The application, with its models served again for react-admin (`admin/v1`) and for refine (`json/v1`): docs/reference/clients.md. */
@Module({
  imports: [
    AppModule,
    // An unknown filter is an error instead of the list of all rows.
    RestifyModule.forRoot('admin/v1', {
      permissions: [AllowAny],
      strict: true,
      pagination: new PageNumberPagination(),
    }),
    RestifyModule.forRoot('json/v1', {
      permissions: [AllowAny],
      strict: true,
      pagination: new JsonServerPagination(),
      filterBackends: [JsonServerFilter, JsonServerSearch, JsonServerOrdering],
      // These clients read the response to a DELETE.
      returnDeleted: true,
    }),
  ],
})
export class ClientsModule {}
