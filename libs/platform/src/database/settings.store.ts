import { Injectable } from '@nestjs/common';
import { Database, type Tx } from './database.js';

/** Key-value settings that the service stores for itself. */
@Injectable()
export class SettingsStore {
  constructor(private readonly database: Database) {}

  async get(key: string): Promise<unknown> {
    const rows = await this.database.direct.query<{ value: unknown }[]>(
      'SELECT value FROM mcp.settings WHERE key = $1',
      [key],
    );
    return rows[0]?.value;
  }

  async insertIfAbsent(key: string, value: object): Promise<void> {
    await this.database.direct.query(
      'INSERT INTO mcp.settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING',
      [key, value],
    );
  }

  async put(key: string, value: object, tx: Tx = this.database.direct): Promise<void> {
    await tx.query(
      `INSERT INTO mcp.settings (key, value) VALUES ($1, $2)
       ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, updated_at = now()`,
      [key, value],
    );
  }
}
