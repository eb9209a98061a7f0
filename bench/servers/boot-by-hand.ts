/* eslint-disable @typescript-eslint/no-extraneous-class -- classes that are decorated in a loop */
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Query,
} from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type as TypeOf } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import type { Repository } from 'typeorm';
import { relationNames } from './boot-entities.js';
import type { EntityClass } from './boot-entities.js';

/** What the services use of an entity. */
interface Row {
  readonly id: number;
  readonly rank: number;
}

/**
 * For each entity the module that a developer would write, as `nest generate resource` lays it out: a controller with five routes
 * and one for each nested list, a service with a repository, and classes of the bodies and of the query with their rules.
 */
export function handwrittenModules(entities: readonly EntityClass[], relations: number): Type[] {
  const names = relationNames(relations);
  return entities.map((entity) => {
    const service = makeService(entity);
    const controller = makeController(
      entity,
      service,
      names.map(({ children }) => children),
    );
    class EntityModule {}
    rename(EntityModule, `${entity.name}Module`);
    Module({
      imports: [TypeOrmModule.forFeature([entity])],
      controllers: [controller],
      providers: [service],
    })(EntityModule);
    return EntityModule;
  });

  function makeController(
    entity: EntityClass,
    service: Type<EntityService>,
    nested: readonly string[],
  ): Type {
    const Create = makeBody(entity, { isPartial: false });
    const Update = makeBody(entity, { isPartial: true });
    const ListQuery = makeQuery(entity);
    class EntityController {
      constructor(private readonly rows: EntityService) {}

      list(query: object): Promise<object[]> {
        return this.rows.list(query);
      }

      create(values: object): Promise<object> {
        return this.rows.create(values);
      }

      findOne(id: number): Promise<object> {
        return this.rows.findOne(id);
      }

      update(id: number, changes: object): Promise<object> {
        return this.rows.update(id, changes);
      }

      remove(id: number): Promise<void> {
        return this.rows.remove(id);
      }
    }
    rename(EntityController, `${entity.name}Controller`);
    const { prototype } = EntityController;
    const id = Param('id', ParseIntPipe);
    method(prototype, 'list', { route: Get(), parameters: [[Query(), ListQuery]] });
    method(prototype, 'create', { route: Post(), parameters: [[Body(), Create]] });
    method(prototype, 'findOne', { route: Get(':id'), parameters: [[id, Number]] });
    method(prototype, 'update', {
      route: Patch(':id'),
      parameters: [
        [id, Number],
        [Body(), Update],
      ],
    });
    method(prototype, 'remove', { route: Delete(':id'), parameters: [[id, Number]] });
    HttpCode(204)(prototype, 'remove', descriptorOf(prototype, 'remove'));
    for (const name of nested) {
      Object.defineProperty(prototype, name, {
        value(this: { readonly rows: EntityService }, key: number) {
          return this.rows.nested(key, name);
        },
        writable: true,
        configurable: true,
      });
      method(prototype, name, { route: Get(`:id/${name}`), parameters: [[id, Number]] });
    }
    Reflect.defineMetadata('design:paramtypes', [service], EntityController);
    Controller(`rest/v1/big/${entity.name.toLowerCase()}`)(EntityController);
    return EntityController;
  }

  function makeBody(entity: EntityClass, { isPartial }: { readonly isPartial: boolean }): Type {
    class EntityBody {}
    rename(EntityBody, `${isPartial ? 'Update' : 'Create'}${entity.name}`);
    const { prototype } = EntityBody;
    const optional = (name: string): void => {
      IsOptional()(prototype, name);
    };
    for (const name of ['name', 'title', 'note']) {
      if (isPartial) optional(name);
      IsString()(prototype, name);
      MaxLength(100)(prototype, name);
    }
    for (const name of ['rank', 'size', 'weight']) {
      if (isPartial) optional(name);
      IsInt()(prototype, name);
    }
    if (isPartial) optional('active');
    IsBoolean()(prototype, 'active');
    for (const { parent } of names) {
      optional(`${parent}_id`);
      IsInt()(prototype, `${parent}_id`);
    }
    return EntityBody;
  }

  function makeQuery(entity: EntityClass): Type {
    class EntityQuery {}
    rename(EntityQuery, `List${entity.name}`);
    for (const name of ['page', 'page_size', 'rank']) {
      IsOptional()(EntityQuery.prototype, name);
      TypeOf(() => Number)(EntityQuery.prototype, name);
      IsInt()(EntityQuery.prototype, name);
    }
    return EntityQuery;
  }
}

interface EntityService {
  list(query: {
    readonly page?: number;
    readonly page_size?: number;
    readonly rank?: number;
  }): Promise<object[]>;
  create(values: object): Promise<object>;
  findOne(id: number): Promise<object>;
  update(id: number, changes: object): Promise<object>;
  remove(id: number): Promise<void>;
  nested(id: number, name: string): Promise<object[]>;
}

function makeService(entity: EntityClass): Type<EntityService> {
  class Service implements EntityService {
    constructor(private readonly rows: Repository<Row>) {}

    list({ page = 1, page_size: size = 100, rank }: Parameters<EntityService['list']>[0]): Promise<object[]> {
      const where = rank === undefined ? {} : { rank };
      return this.rows.find({ where, order: { id: 'ASC' }, skip: (page - 1) * size, take: size });
    }

    create(values: object): Promise<object> {
      return this.rows.save(this.rows.create(values));
    }

    async findOne(id: number): Promise<Row> {
      const row = await this.rows.findOneBy({ id });
      if (!row) throw new NotFoundException();
      return row;
    }

    async update(id: number, changes: object): Promise<object> {
      return this.rows.save(Object.assign(await this.findOne(id), changes));
    }

    async remove(id: number): Promise<void> {
      await this.rows.remove(await this.findOne(id));
    }

    async nested(id: number, name: string): Promise<object[]> {
      const row = await this.rows.findOne({ where: { id }, relations: { [name]: true } });
      if (!row) throw new NotFoundException();
      return (row as unknown as Readonly<Record<string, object[]>>)[name] ?? [];
    }
  }
  rename(Service, `${entity.name}Service`);
  InjectRepository(entity)(Service, undefined, 0);
  Reflect.defineMetadata('design:paramtypes', [Object], Service);
  Injectable()(Service);
  return Service;
}

/** Decorates a method as the compiler of TypeScript does, with the types of its parameters. */
function method(
  prototype: object,
  name: string,
  {
    route,
    parameters,
  }: {
    readonly route: MethodDecorator;
    readonly parameters: readonly (readonly [ParameterDecorator, unknown])[];
  },
): void {
  for (const [at, [decorate]] of parameters.entries()) decorate(prototype, name, at);
  Reflect.defineMetadata(
    'design:paramtypes',
    parameters.map(([, type]) => type),
    prototype,
    name,
  );
  route(prototype, name, descriptorOf(prototype, name));
}

function descriptorOf(prototype: object, name: string): PropertyDescriptor {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  if (!descriptor) throw new Error(`No method ${name}`);
  return descriptor;
}

function rename(type: object, name: string): void {
  Object.defineProperty(type, 'name', { value: name });
}
