import { register } from 'node:module';

register('../typescript-hooks.mjs', import.meta.url);
register('./test-globals-hooks.mjs', import.meta.url);
