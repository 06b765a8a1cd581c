import type { QueryRunner } from 'typeorm';
import { AppError } from '../errors/app-error.js';

/** Processes that would read and write a database that is being replaced or taken back. */
export class DatabaseInUse extends AppError {
  constructor(addresses: readonly string[]) {
    super(
      `Switchboard runs on this database (${addresses.join(', ')}). Stop every replica, and try again.`,
      { kind: 'conflict', code: 'DATABASE_IN_USE' },
    );
  }
}

/** Throws DatabaseInUse. The embedded database is used by one process, which holds its folder. */
export async function refuseWhileInUse({ manager }: QueryRunner): Promise<void> {
  const others = await manager.query<{ address: string }[]>(
    `SELECT DISTINCT coalesce(host(client_addr), 'this machine') AS address FROM pg_stat_activity
     WHERE application_name = 'switchboard' AND datname = current_database()
       AND client_port IS DISTINCT FROM (SELECT client_port FROM pg_stat_activity WHERE pid = pg_backend_pid())`,
  );
  if (others.length > 0) throw new DatabaseInUse(others.map(({ address }) => address));
}
