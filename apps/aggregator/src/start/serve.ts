import 'reflect-metadata';
import { adminTokenNotice, Tokens } from '@app/access';
import { readSettings } from './settings.js';
import { failStart, startService } from './start-service.js';

try {
  const { app, url } = await startService(readSettings());
  const newToken = app.get(Tokens).takeNewToken();
  if (newToken) process.stdout.write(adminTokenNotice(url, newToken));
} catch (error) {
  failStart(error);
}
