import { Foundation1763460000000 } from './1763460000000-foundation.js';

/** In order; a list rather than a file pattern, so that tsc, Jest and the running service see the same. */
export const migrations = [Foundation1763460000000] as const;
