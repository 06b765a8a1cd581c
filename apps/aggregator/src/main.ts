import 'reflect-metadata';
import { readSettings } from './settings.js';
import { failStart, startService } from './start-service.js';

try {
  await startService(readSettings());
} catch (error) {
  failStart(error);
}
