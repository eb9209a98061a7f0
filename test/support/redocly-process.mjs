// Reads an OpenAPI document from its standard input, and writes what Redocly's linter says of it, as JSON: a process of its own, because the linter is an ES module only.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { text } from 'node:stream/consumers';

const config = await createConfig({ extends: ['recommended'] });
const problems = await lintFromString({ source: await text(process.stdin), config });
console.log(
  JSON.stringify(
    problems.map(({ severity, ruleId, message, location }) => ({
      severity,
      ruleId,
      message,
      at: location[0]?.pointer ?? '',
    })),
  ),
);
