import 'reflect-metadata';
import { migrateOnce } from '@app/platform';
import { migrations } from '../../../migrations/index.js';
import { readSettings } from './start/settings.js';
import { failStart } from './start/start-service.js';

// `npm run migration:run` and `npm run migration:revert`; the service migrates at every start by itself.
try {
  const direction = process.argv[2] === 'revert' ? 'revert' : 'run';
  const names = await migrateOnce(readSettings(), migrations, direction);
  console.log(
    names.length > 0
      ? names.map((name) => `${direction} ${name}`).join('\n')
      : `nothing to ${direction}`,
  );
} catch (error) {
  failStart(error);
}
