import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile } from '../../support/typescript-hooks.mjs';

const FAULT = JSON.parse(process.env.RESTIFY_FUZZ_FAULT);
const PLACE = new URL(`../../../${FAULT.file}`, import.meta.url).href;

export async function load(url, context, next) {
  if (url !== PLACE) return next(url, context);
  const filename = fileURLToPath(url);
  return compile(filename, planted(await readFile(filename, 'utf8')));
}

/** Throws unless the replaced text occurs exactly once, because a fault that is not planted cannot be detected. */
function planted(source) {
  const parts = source.split(FAULT.search);
  if (parts.length !== 2)
    throw new Error(
      `Fault "${FAULT.name}": ${FAULT.file} holds its text ${parts.length - 1} times, not once`,
    );
  console.log(`Planted: ${FAULT.name}`);
  return parts.join(FAULT.replacement);
}
