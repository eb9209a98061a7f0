// Lets Node run the TypeScript of src/, test/ and sample-app/: node --import ./test/support/typescript.mjs <file>.ts
import { register } from 'node:module';
import '../../scripts/sqlite-driver.cjs';

register('./typescript-hooks.mjs', import.meta.url);
