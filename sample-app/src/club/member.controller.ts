import { Length } from 'class-validator';
import { Body, Req } from '@nestjs/common';
import {
  Action,
  ChildPk,
  InvalidInput,
  MANY_TO_MANY_DETAIL_ACTION,
  MANY_TO_MANY_LIST_ACTION,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  ParentPk,
  RestifyController,
} from 'nestjs-restify';
import { Member } from './member.entity.js';
import { MemberNames } from './member-names.service.js';

class RenameBody {
  @Length(1, 75)
  name: string;
}

/** Replaces nested behaviour of members, and adds an action. Everything else is generated. */
@RestifyController(Member)
export class MemberController {
  constructor(private readonly names: MemberNames) {}

  @NestedAction(MANY_TO_MANY_LIST_ACTION, 'events', { methods: ['GET', 'POST'] })
  events(@Req() request: { readonly method: string }): object {
    return { msg: request.method === 'POST' ? 'custom create' : 'custom list' };
  }

  @NestedAction(MANY_TO_MANY_DETAIL_ACTION, 'events')
  event(@ChildPk() childPk: string): object {
    return { msg: 'custom detail', childPk };
  }

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'payments')
  payments(): object {
    return { msg: 'custom payments' };
  }

  /** `POST /rest/v1/club/member/<pk>/rename/` */
  @Action({ detail: true, methods: ['POST'] })
  async rename(
    @ParentPk() pk: number,
    // The page for people makes a form of its class. Without a ValidationPipe, the body may be anything.
    @Body() body: RenameBody,
  ): Promise<object> {
    const { name } = Object(body) as { readonly name?: unknown };
    if (typeof name !== 'string' || name === '') throw InvalidInput.of('name', 'This field is required.');
    return this.names.rename(pk, name);
  }
}
