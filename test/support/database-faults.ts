import pg from 'pg';
import type { FaultProxy } from './fault-proxy.js';

/** Faults of a database: each breaks it for a service connected through `proxy`, and repairs it again. */
export interface DatabaseFault {
  readonly reason: string;
  readonly readsToo: boolean;
  break(): Promise<void>;
  mend(): Promise<void>;
}

export class BrokenDatabase {
  private constructor(
    private readonly url: string,
    private readonly proxy: FaultProxy,
    private readonly client: pg.Client,
  ) {}

  static async of(url: string, proxy: FaultProxy): Promise<BrokenDatabase> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new BrokenDatabase(url, proxy, client);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** Ends every connection of the service with 57P01, as an administrator or a shutdown does. */
  async endConnections(): Promise<void> {
    await this.client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  }

  faults(): Readonly<Record<string, DatabaseFault>> {
    const { proxy, client } = this;
    const name = new URL(this.url).pathname.slice(1);
    return {
      'refuses connections': {
        reason: 'unreachable',
        readsToo: true,
        break: async () => {
          proxy.fault = { refuse: true };
          proxy.breakAll();
        },
        mend: async () => void (proxy.fault = {}),
      },
      'is silent': {
        reason: '(?:unreachable|slow)',
        readsToo: true,
        break: async () => void (proxy.fault = { blackhole: true }),
        mend: async () => {
          proxy.fault = {};
          proxy.breakAll();
        },
      },
      'hangs in a lock': {
        reason: 'slow',
        readsToo: true,
        break: async () => {
          await client.query('BEGIN');
          await client.query(
            `LOCK TABLE mcp.external_servers, mcp.audit_log, mcp.skill_categories,
               mcp.skill_suggestions, mcp.query_rules, mcp.query_servers IN ACCESS EXCLUSIVE MODE`,
          );
        },
        mend: async () => void (await client.query('ROLLBACK')),
      },
      'has a full disk': {
        reason: 'full',
        readsToo: false,
        break: async () => {
          await client.query(
            `CREATE FUNCTION public.no_space() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`,
          );
          for (const table of WRITTEN) {
            await client.query(
              `CREATE TRIGGER no_space BEFORE INSERT OR UPDATE ON mcp.${table}
               FOR EACH STATEMENT EXECUTE FUNCTION public.no_space()`,
            );
          }
        },
        mend: async () => void (await client.query('DROP FUNCTION public.no_space CASCADE')),
      },
      'is read-only': {
        reason: '(?:read-only|unreachable)', // a pooled connection may not know yet that it was closed
        readsToo: false,
        break: async () => {
          await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
          await this.endConnections();
        },
        mend: async () => {
          await client.query('SET default_transaction_read_only = off');
          await client.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
          await this.endConnections();
        },
      },
    };
  }
}

const WRITTEN = [
  'external_servers',
  'audit_log',
  'server_connection_history',
  'settings',
  'skill_categories',
  'query_rules',
  'query_servers',
];
