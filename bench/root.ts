import { fileURLToPath } from 'node:url';

/** The project's folder, as seen from `dist/bench/`. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
