import './start/node-floor.js';
import { createRequire } from 'node:module';
import { startInLittleMemory } from './start/young-generation.js';

// Before all other imports, because loading modules makes most of the garbage of a start.
startInLittleMemory();
// `import` opens the files of all modules at once, which exceeds a limit of 256 file descriptors; `require` opens one
// at a time and is as fast.
createRequire(import.meta.url)('./start/start-service.js');
await import('./start/serve.js');
