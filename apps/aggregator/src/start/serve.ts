import 'reflect-metadata';
import { adminTokenNotice, Tokens } from '@app/access';
import { readSettings } from './settings.js';
import { firstLogin } from './first-login.js';
import { failStart, startService } from './start-service.js';

try {
  const { app, url } = await startService(readSettings());
  const newToken = app.get(Tokens).takeNewToken();
  if (newToken) {
    const link = await firstLogin(app, url, newToken);
    process.stdout.write(adminTokenNotice(url, newToken, link));
  }
} catch (error) {
  failStart(error);
}
