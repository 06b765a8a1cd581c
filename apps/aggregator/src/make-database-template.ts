import { makeDatabaseTemplate } from '@app/platform';
import { fileURLToPath } from 'node:url';

// The last step of the build, so that a first start finds its empty embedded database ready.
await makeDatabaseTemplate(fileURLToPath(new URL('../../../database-template', import.meta.url)));
