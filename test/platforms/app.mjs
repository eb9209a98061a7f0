// An application over the installed package, with the data source that DATA_SOURCE says as JSON. Prints its port.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, restify, RestifyModule } from 'nestjs-restify';
import { EntitySchema } from 'typeorm';

const Author = new EntitySchema({
  name: 'Author',
  columns: {
    id: { type: Number, primary: true, generated: true },
    name: { type: String, length: 50, unique: true },
  },
  relations: { books: { type: 'one-to-many', target: 'Book', inverseSide: 'author' } },
});
const Book = new EntitySchema({
  name: 'Book',
  columns: {
    id: { type: Number, primary: true, generated: true },
    title: { type: String, length: 75 },
    pages: { type: Number, default: 0 },
    due: { type: Date, precision: 3, nullable: true },
  },
  relations: {
    author: {
      type: 'many-to-one',
      target: 'Author',
      inverseSide: 'books',
      onDelete: 'CASCADE',
      nullable: false,
    },
  },
});
restify(Author, { app: 'library', bulk: true });
restify(Book, {
  app: 'library',
  filterFields: { title: ['exact', 'icontains'], pages: ['gte', 'in'], 'author.name': ['exact'] },
  orderingFields: ['pages', 'title'],
  searchFields: ['title'],
});

// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- a module
class AppModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({
      ...JSON.parse(process.env.DATA_SOURCE),
      entities: [Author, Book],
      synchronize: true,
      retryAttempts: 0,
    }),
    RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
  ],
})(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
// Deno allows no listeners of some signals that Nest listens to by default.
app.enableShutdownHooks(['SIGTERM']);
await app.listen(0, '127.0.0.1');
console.log(`PORT ${app.getHttpServer().address().port}`);
