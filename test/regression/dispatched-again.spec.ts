// @tags nest
import { expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import { NEVER } from 'rxjs';
import type { Observable } from 'rxjs';
import { IsAuthenticatedOrReadOnly, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';

@Restify({ app: 'again', permissions: [IsAuthenticatedOrReadOnly] })
@Entity('again_note')
class AgainNote {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

/** Sends a GET through the application once more, as a DELETE. */
@Injectable()
class Redispatching implements NestInterceptor {
  constructor(private readonly host: HttpAdapterHost) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<{ method: string }>();
    if (request.method !== 'GET') return next.handle();
    request.method = 'DELETE';
    const application = this.host.httpAdapter.getInstance<(...args: unknown[]) => void>();
    application(request, context.switchToHttp().getResponse());
    return NEVER;
  }
}

test('a request that is dispatched again with another method is authorized again', async () => {
  const started = await startApp({
    entities: [AgainNote],
    providers: [{ provide: APP_INTERCEPTOR, useClass: Redispatching }],
    compare: false,
  });
  try {
    const [note] = await started.dataSource.getRepository(AgainNote).save([{ text: 'kept' }]);
    // Not by the client of the tests, which expects what the document says of GET.
    const answer = await fetch(`${await started.app.getUrl()}/rest/v1/again/againnote/${note?.id ?? 0}/`);
    expect(answer.status).toBe(403);
    expect(await started.dataSource.getRepository(AgainNote).count()).toBe(1);
  } finally {
    await started.close();
  }
});
