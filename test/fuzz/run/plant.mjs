// Plants the fault of RESTIFY_FUZZ_FAULT in the source as it is loaded: `node --import ./test/support/typescript.mjs --import
// ./test/fuzz/run/plant.mjs <file>.ts`. No file is changed.
import { register } from 'node:module';

register('./plant-hooks.mjs', import.meta.url);
