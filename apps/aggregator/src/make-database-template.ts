import { makeDatabaseTemplate } from '@app/platform';
import { fileURLToPath } from 'node:url';
import { migrations } from '../../../migrations/index.js';

// Last step of the build: makes a migrated embedded database that a first start copies.
await makeDatabaseTemplate(
  fileURLToPath(new URL('../../../database-template', import.meta.url)),
  migrations,
);
