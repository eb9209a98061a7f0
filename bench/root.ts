import { fileURLToPath } from 'node:url';

/** The root folder of the project, relative to `dist/bench/`. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
