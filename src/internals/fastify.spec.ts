// @tags core
import { describe, expect, test } from '@jest/globals';
import fastify from 'fastify';
import type { FastifyReply } from 'fastify';
import { probeClosing, probeSerializer } from './fastify.js';

describe('how the installed Fastify closes', () => {
  test('is found, with its default', () => {
    expect(probeClosing(fastify())).toEqual({ rejects: true, otherServers: [] });
  });

  test('is found as the application has set it', () => {
    expect(probeClosing(fastify({ return503OnClosing: false }))?.rejects).toBe(false);
  });

  test('is found with the servers of all addresses', async () => {
    const instance = fastify();
    const closing = probeClosing(instance);
    await instance.listen({ port: 0, host: 'localhost' });
    expect(instance.addresses()).toHaveLength(1 + (closing?.otherServers.length ?? 0));
    await instance.close();
  });
});

test('the serializer of a reply of the installed Fastify is found', async () => {
  const instance = fastify();
  const hasSerializer = probeSerializer(instance);
  const seen: unknown[] = [];
  instance.get('/', (_request, reply: FastifyReply) => {
    seen.push(hasSerializer?.(reply));
    reply.serializer(() => 'text');
    seen.push(hasSerializer?.(reply));
    return reply.send({});
  });
  expect((await instance.inject('/')).body).toBe('text');
  expect(seen).toEqual([false, true]);
});

const OPTIONS = Symbol('fastify.options');
const SERVERS = Symbol('fastify.serverBindings');

test.each([
  ['without symbols', {}],
  ['without options', { [SERVERS]: [] }],
  ['with options that are nothing', { [OPTIONS]: null, [SERVERS]: [] }],
  ['without servers', { [OPTIONS]: {} }],
  ['with servers in another collection', { [OPTIONS]: {}, [SERVERS]: new Set() }],
])('how Fastify closes is not found %s', (_, instance) => {
  expect(probeClosing(instance)).toBeUndefined();
});

const REPLY = Symbol('fastify.Reply');
const SERIALIZER = Symbol('fastify.reply.serializer');

class Sample {
  [SERIALIZER]: unknown = null;

  serializer(serialize: unknown): void {
    this[SERIALIZER] = serialize;
  }
}

class Renamed extends Sample {
  constructor() {
    super();
    Reflect.deleteProperty(this, SERIALIZER);
  }
}

class Undefined extends Sample {
  override [SERIALIZER]: unknown = undefined;
}

class Elsewhere extends Sample {
  override serializer(): void {
    return undefined;
  }
}

class Failing extends Sample {
  override serializer(): void {
    throw new Error('A reply without a request has no serializer.');
  }
}

test('a serializer is found in a class of this form', () => {
  expect(probeSerializer({ [REPLY]: Sample })).toBeDefined();
});

test.each([
  ['without a class', undefined],
  ['under another name', Renamed],
  ['with another value for none', Undefined],
  ['that is set in another place', Elsewhere],
  ['that a reply without a request cannot have', Failing],
])('a serializer is not found %s', (_, Reply) => {
  expect(probeSerializer({ [REPLY]: Reply })).toBeUndefined();
});
