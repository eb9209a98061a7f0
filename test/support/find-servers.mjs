import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

/**
 * With `RESTIFY_TEST_MYSQL`, the tests of MariaDB run on that server of MySQL in its place.
 *
 * Sets the default URLs of the servers, and `RESTIFY_MISSING_…` to the reason if a server does not respond, or does not
 * permit this user to create a schema or database.
 */
export async function findServers() {
  process.env.RESTIFY_TEST_POSTGRES ||= 'postgres://postgres@127.0.0.1:5432/postgres';
  if (process.env.RESTIFY_TEST_MYSQL) process.env.RESTIFY_TEST_MARIADB = process.env.RESTIFY_TEST_MYSQL;
  process.env.RESTIFY_TEST_MARIADB ||= 'mariadb://root@127.0.0.1:3306/test';
  setOrUnset(
    'RESTIFY_MISSING_POSTGRES',
    await reasonMissing(() => tryPostgres(process.env.RESTIFY_TEST_POSTGRES)),
  );
  setOrUnset(
    'RESTIFY_MISSING_MARIADB',
    await reasonMissing(() => tryMariadb(process.env.RESTIFY_TEST_MARIADB)),
  );
}

async function tryPostgres(connectionString) {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 3000 });
  await client.connect();
  const schema = `restify_${process.pid}_${randomBytes(6).toString('hex')}`;
  await client.query(`CREATE SCHEMA "${schema}"; DROP SCHEMA "${schema}"`).finally(() => client.end());
}

async function tryMariadb(url) {
  const connection = await createConnection({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    connectTimeout: 3000,
    multipleStatements: true,
  });
  const database = `restify_${process.pid}_${randomBytes(6).toString('hex')}`;
  await connection
    .query(`CREATE DATABASE \`${database}\`; DROP DATABASE \`${database}\``)
    .finally(() => connection.end());
}

async function reasonMissing(attempt) {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return error.message || error.name;
  }
}

function setOrUnset(variable, value) {
  if (value === undefined) Reflect.deleteProperty(process.env, variable);
  else process.env[variable] = value;
}
