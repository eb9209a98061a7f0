import {
  Body,
  Controller,
  createParamDecorator,
  Get,
  HttpCode,
  Module,
  Param,
  Patch,
  Post,
  Query,
  Res,
  UnauthorizedException,
} from '@nestjs/common';
import type { ExecutionContext, Type } from '@nestjs/common';
import type { User } from '../model-options/users.js';
import { openStatements } from './bare-database.js';
import { sendJson } from './bare-reply.js';
import type { Reply } from './bare-reply.js';
import { verifyPassword } from './model-options-auth.js';
import type { Authenticated } from './model-options-auth.js';

const PAGE_SIZE = 100;
const { writer, open } = openStatements();
const onSqlite = process.env.BENCH_DATABASE === 'sqlite';
const table = process.env.BENCH_ITEM_TABLE ?? 'item';
const item = writer.object(
  `'id', id, 'title', title, 'code', code, 'rating', rating, 'extra', extra, 'category', category_id, 'owner', owner_id, 'updated_at', ${writer.instant('updated_at')}`,
);
const matching = `FROM ${table} WHERE owner_id = $1 AND rating >= $2 AND rating <= $3 AND code LIKE $4 AND title ${onSqlite ? 'LIKE' : 'ILIKE'} $5 AND updated_at >= $6`;
const now = onSqlite ? "strftime('%Y-%m-%d %H:%M:%f', 'now')" : 'now()';

const DATABASE = {
  list: open(
    'list',
    `SELECT '{"count":' || (SELECT count(*) ${matching}) || ',"results":' || ${writer.joined('page.text')} || '}' FROM (SELECT ${item} AS text ${matching} ORDER BY id LIMIT ${PAGE_SIZE} OFFSET $7) AS page`,
  ),
  findOne: open('findOne', `SELECT ${item} FROM ${table} WHERE id = $1 AND owner_id = $2`),
  create: open(
    'create',
    `INSERT INTO ${table} (title, code, rating, extra, category_id, owner_id, updated_at) VALUES ($1, $2, $3, $4, $5, $6, ${now}) RETURNING ${item}`,
  ),
  change: open(
    'change',
    `UPDATE ${table} SET title = $3, extra = $4, updated_at = ${now} WHERE id = $1 AND owner_id = $2 RETURNING ${item}`,
  ),
  categories: open(
    'categories',
    `SELECT ${writer.joined('page.text')} FROM (SELECT ${writer.object("'id', id, 'name', name")} AS text FROM category ORDER BY id) AS page`,
  ),
  owner: open(
    'owner',
    `SELECT ${writer.object("'id', id, 'name', name, 'email', email, 'active', active")} FROM owner WHERE id = $1`,
  ),
};

/** Verifies HTTP Basic, in the handler, because a guard of Nest would cost more. */
const Caller = createParamDecorator((_: unknown, context: ExecutionContext): User => {
  return verifyCaller(context.switchToHttp().getRequest<Authenticated>());
});

interface OwnItem {
  readonly user: User;
  readonly id: number;
}

/** The caller, and the key of the item in the URL. */
const OwnItemOf = createParamDecorator((_: unknown, context: ExecutionContext): OwnItem => {
  const request = context.switchToHttp().getRequest<Authenticated & { params: { id: string } }>();
  return { user: verifyCaller(request), id: Number(request.params.id) };
});

function verifyCaller({ headers }: Authenticated): User {
  const [name = '', password = ''] = Buffer.from(headers.authorization?.slice(6) ?? '', 'base64')
    .toString('utf8')
    .split(':');
  const user = verifyPassword(name, password);
  if (!user) throw new UnauthorizedException();
  return user;
}

type Values = Readonly<Record<string, unknown>>;
type Parameters = Readonly<Record<string, string | undefined>>;

/**
 * The upper limit of the typical model: handlers of Nest that verify the password, check nothing else, and send the text which
 * one prepared statement returns. It is not a realistic application, but no application on Nest can be much faster.
 */
@Controller()
class LimitController {
  @Get('item')
  async list(@Caller() user: User, @Query() query: Parameters, @Res() reply: Reply): Promise<void> {
    const text = await DATABASE.list(
      user.id,
      Number(query.rating__gte),
      Number(query.rating__lte),
      `${query.code__startswith ?? ''}%`,
      `%${query.title__icontains ?? ''}%`,
      query.updated_at__gte?.replace('T', ' ').replace('Z', ''),
      (Number(query.page ?? 1) - 1) * PAGE_SIZE,
    );
    sendJson(reply, text);
  }

  @Get('item/:id')
  async findOne(@OwnItemOf() { user, id }: OwnItem, @Res() reply: Reply): Promise<void> {
    sendJson(reply, await DATABASE.findOne(id, user.id));
  }

  @Post('item')
  @HttpCode(201)
  async create(@Caller() _: User, @Body() values: Values, @Res() reply: Reply): Promise<void> {
    const { title, code, rating, extra, category, owner } = values;
    sendJson(reply, await DATABASE.create(title, code, rating, extra, category, owner));
  }

  @Patch('item/:id')
  async change(
    @OwnItemOf() { user, id }: OwnItem,
    @Body() { title, extra }: Values,
    @Res() reply: Reply,
  ): Promise<void> {
    sendJson(reply, await DATABASE.change(id, user.id, title, extra));
  }

  @Get('category')
  async categories(@Res() reply: Reply): Promise<void> {
    sendJson(reply, await DATABASE.categories());
  }

  @Get('owner/:id')
  async owner(@Param('id') id: string, @Res() reply: Reply): Promise<void> {
    sendJson(reply, await DATABASE.owner(Number(id)));
  }
}

@Module({ controllers: [LimitController] })
class LimitApp {}

export const MODEL_OPTIONS_LIMIT: Type = LimitApp;
