// Reads an OpenAPI document from standard input, and writes the problems that Redocly's linter finds as JSON. It runs in a child process, because the linter is an ES module only.
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
