import { startInLittleMemory } from './young-generation.js';

// Before anything else is loaded, since loading makes most of the garbage of a start.
startInLittleMemory();
await import('./serve.js');
