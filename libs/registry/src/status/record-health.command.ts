import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { ServerSecrets } from '../credentials/server-secrets.js';
import { ServerStore } from '../server.store.js';

export interface HealthRecord {
  readonly at: Date;
  readonly responseTimeMs: number | null;
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
}

/** Stores the result of the last health check. The status is changed by another command. */
export class RecordHealth extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly record: HealthRecord,
  ) {
    super();
  }
}

@CommandHandler(RecordHealth)
export class RecordHealthHandler implements ICommandHandler<RecordHealth> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly secrets: ServerSecrets,
  ) {}

  async execute({ serverId, record }: RecordHealth): Promise<void> {
    const { at, lastError, ...numbers } = record;
    await this.servers.update(
      serverId,
      {
        ...numbers,
        lastHealthCheck: at,
        lastError: lastError === null ? null : await this.secrets.redact(serverId, lastError),
      },
      this.database.background.direct,
    );
  }
}
