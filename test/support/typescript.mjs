// Lets Node run the TypeScript of src/, test/ and sample-app/: node --import ./test/support/typescript.mjs <file>.ts
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
