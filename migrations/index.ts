import { Foundation1763460000000 } from './1763460000000-foundation.js';
import { ToolVectors1763470000000 } from './1763470000000-tool-vectors.js';
import { Skills1763470100000 } from './1763470100000-skills.js';
import { QuerySettings1763480000000 } from './1763480000000-query-settings.js';
import { ServerAuthorizations1763490000000 } from './1763490000000-server-authorizations.js';
import { ToolVectorsByTool1763500000000 } from './1763500000000-tool-vectors-by-tool.js';

/** In order; a list rather than a file pattern, so that tsc, Jest and the running service see the same. */
export const migrations = [
  Foundation1763460000000,
  ToolVectors1763470000000,
  Skills1763470100000,
  QuerySettings1763480000000,
  ServerAuthorizations1763490000000,
  ToolVectorsByTool1763500000000,
] as const;
