import { makeDatabaseTemplate } from '@app/platform';
import { fileURLToPath } from 'node:url';
import { migrations } from '../../../migrations/index.js';

// The last step of the build, so that a first start finds its embedded database ready and migrated.
await makeDatabaseTemplate(
  fileURLToPath(new URL('../../../database-template', import.meta.url)),
  migrations,
);
