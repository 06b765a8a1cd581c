import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError } from '../errors/app-error.js';

const CONNECT_WITHIN_MS = 10_000;
/** For a notification to come back. */
const ECHO_WITHIN_MS = 3_000;

/** At start: leadership and migrations would be of no process, and notifications would reach none. */
export class BehindPooler extends AppError {
  constructor(setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL') {
    super(
      setting === 'DATABASE_URL'
        ? 'DATABASE_URL leads to a connection pooler in transaction mode, through which migrations, leadership and notifications between replicas do not work. Set DATABASE_DIRECT_URL to PostgreSQL itself, or set the pooler to session mode.'
        : 'DATABASE_DIRECT_URL leads to a connection pooler in transaction mode. Set it to PostgreSQL itself.',
      { kind: 'unavailable', code: 'DATABASE_BEHIND_POOLER' },
    );
  }
}

/** Whether statements of one connection may run on different connections of PostgreSQL, so that LISTEN is lost. */
export async function isPooledByTransaction(url: string): Promise<boolean> {
  const [listener, sender] = [newClient(url), newClient(url)];
  try {
    await listener.connect();
    if (await isDirect(listener)) return false;
    await sender.connect();
    return !(await hears(listener, sender));
  } finally {
    await Promise.all([listener, sender].map((client) => client.end().catch(() => undefined)));
  }
}

/** A pooler makes up the process id that it tells when a client connects. */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return 'processID' in client && rows[0]?.pid === client.processID;
}

async function hears(listener: pg.Client, sender: pg.Client): Promise<boolean> {
  const channel = `switchboard_${randomUUID().replaceAll('-', '')}`;
  const heard = new Promise<boolean>((resolve) => {
    listener.on('notification', (notification) => {
      if (notification.channel === channel) resolve(true);
    });
  });
  await listener.query(`LISTEN ${channel}`);
  await sender.query('SELECT pg_notify($1, $2)', [channel, '']);
  return Promise.race([heard, sleep(ECHO_WITHIN_MS, false, { ref: false })]);
}

function newClient(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'switchboard',
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
  });
  // A broken connection rejects the query that is under way.
  client.on('error', () => undefined);
  return client;
}
