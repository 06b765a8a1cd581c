import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { AccessModule, SYSTEM } from '@app/access';
import { PersonRowsModule } from '@app/authorization';
import { createPino, DatabaseModule, makeDataDir, PinoLogger, PlatformModule } from '@app/platform';
import { OAuthRowsModule } from '@app/oauth';
import { RegistryModule, RotateCredentials } from '@app/registry';
import { WebhookRowsModule } from '@app/webhooks';
import { migrations } from '../../../../../migrations/index.js';
import { readSettings } from '../../start/settings.js';

/** MCP_CREDENTIAL_KEY is the new key, MCP_CREDENTIAL_KEY_PREVIOUS the former one; the number of servers. */
export async function rotateCredentials(): Promise<number> {
  const env = readSettings({ MCP_AGGREGATOR_LOG_LEVEL: 'error' }, []);
  makeDataDir(env.MCP_AGGREGATOR_DATA_DIR);
  const app = await NestFactory.createApplicationContext(
    {
      module: class RotationModule {},
      imports: [
        PlatformModule.forRoot(env),
        DatabaseModule.forRoot(migrations, 'command'),
        CqrsModule.forRoot(),
        AccessModule,
        RegistryModule,
        OAuthRowsModule,
        PersonRowsModule,
        WebhookRowsModule,
      ],
    },
    { logger: new PinoLogger(await createPino(env)), abortOnError: false },
  );
  try {
    const { servers } = await app.get(CommandBus).execute(new RotateCredentials(SYSTEM));
    return servers;
  } finally {
    await app.close();
  }
}
