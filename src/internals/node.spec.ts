// @tags core
import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { findsConnectionBelow, probeConstructors, probeHttpSockets } from './node.js';

test('the state of HTTP connections is found in the running Node', async () => {
  const states = probeHttpSockets();
  const seen: unknown[] = [];
  const sockets: Socket[] = [];
  const server = createServer((_request, response) => {
    for (const socket of sockets)
      seen.push([states?.speaksHttp(socket), states?.responseOn(socket) === response]);
    response.end('done');
  });
  server.on('connection', (socket: Socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('done');
  seen.push(...sockets.map((socket) => states?.responseOn(socket)));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(seen).toEqual([[true, true], undefined]);
});

test('the connection below TLS is found in the running Node', () => {
  expect(findsConnectionBelow()).toBe(true);
});

test('the constructors of requests and responses are found in the running Node', () => {
  expect(probeConstructors()).toBeDefined();
});
