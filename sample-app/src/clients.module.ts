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

/** The application, and its models once more for react-admin (`admin/v1`) and for refine (`json/v1`): docs/clients.md. */
@Module({
  imports: [
    AppModule,
    // A filter that a model does not know is an error, and not the list of all its rows.
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
      // These clients read the answer to a DELETE.
      returnDeleted: true,
    }),
  ],
})
export class ClientsModule {}
