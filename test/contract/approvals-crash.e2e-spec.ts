import pg from 'pg';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { ListingServer } from '../support/listing-server.js';
import { createDatabase } from '../support/postgres.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

/** CRASH_ROUNDS sets a larger number. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
const API = '/api/v1/aggregator';

/** Where the process is killed, and whether what it did counts. */
const WITHHOLDING = [
  ['discovery.written', false],
  ['discovery.committed', true],
  ['discovery.published', true],
] as const;
const APPROVING = [
  ['approvals.decided', false],
  ['approvals.committed', true],
] as const;

interface Known {
  readonly folder: string;
  readonly settings: Record<string, string>;
  readonly name: string;
}

interface Waiting {
  readonly id: string;
  readonly state: string;
  readonly expected_hash: string;
}

const rounds = Array.from({ length: ROUNDS }, (_, i) => i + 1);
const upstream = new ListingServer();
const removals: (() => Promise<void>)[] = [];
let made = 0;

beforeAll(() => upstream.start());
afterAll(async () => {
  await upstream.stop();
  for (const remove of removals) await remove();
});

describe('a service that is killed while tools are withheld and approved', () => {
  it.each(rounds.flatMap((round) => WITHHOLDING.map((one) => [...one, round] as const)))(
    'withholds a changed tool after a kill at %s (written: %s, round %i)',
    async (point, isWritten) => {
      const known = await knownServer();
      change(known);
      const armed = await startProcess(known.folder, {
        ...known.settings,
        MCP_AGGREGATOR_FAIL_POINT: point,
      });
      expect(await armed.exited).toBe('SIGKILL');
      await whileRunning(known, async (service) => {
        if (isWritten) expect(await call(service, known)).toMatchObject(refused);
        await eventually(async () => {
          expect(await call(service, known)).toMatchObject(refused);
        });
        expect(await waiting(service)).toMatchObject([{ state: 'PENDING' }]);
      });
      expect(await records(known, 'tools.withheld', 'TOOLS_WITHHELD')).toEqual({
        audited: 1,
        history: 1,
      });
    },
  );

  it.each(rounds.flatMap((round) => APPROVING.map((one) => [...one, round] as const)))(
    'approves a tool whole or not at all when it is killed at %s (written: %s, round %i)',
    async (point, isWritten) => {
      const known = await withheldServer();
      const armed = await startProcess(known.folder, {
        ...known.settings,
        MCP_AGGREGATOR_FAIL_POINT: point,
      });
      await decide(armed, 'approve').catch(() => undefined); // it is killed before it answers
      expect(await armed.exited).toBe('SIGKILL');
      await whileRunning(known, async (service) => {
        const first = await call(service, known);
        if (isWritten) expect(first).not.toMatchObject(refused);
        else expect(first).toMatchObject(refused);
        expect(await waiting(service)).toHaveLength(isWritten ? 0 : 1);
        if (isWritten) await eventuallyCalled(service, known);
      });
      const expected = isWritten ? 1 : 0;
      expect(await records(known, 'tools.approved', 'TOOLS_APPROVED')).toEqual({
        audited: expected,
        history: expected,
      });
    },
  );

  it.each(
    rounds.flatMap((round) => (['approve', 'reject'] as const).map((one) => [one, round] as const)),
  )('keeps a decision that it acknowledged: %s (round %i)', async (verdict) => {
    const known = await withheldServer();
    const service = await startProcess(known.folder, known.settings);
    await decide(service, verdict);
    service.child.kill('SIGKILL');
    await service.exited;
    await whileRunning(known, async (next) => {
      if (verdict === 'approve') {
        expect(await waiting(next)).toEqual([]);
        await eventuallyCalled(next, known);
      } else {
        expect(await call(next, known)).toMatchObject(refused);
        expect(await waiting(next)).toMatchObject([{ state: 'REJECTED' }]);
      }
    });
  });
});

const refused = { status: 403, body: { error_code: 'QUARANTINED' } };

function change({ name }: Known): void {
  upstream.members.set(`${name} water`, { description: 'Waters by night' });
}

/** A server with trust pinned, of which one tool was published. */
async function knownServer(): Promise<Known> {
  const { path: folder, remove } = await temporaryFolder();
  removals.push(remove);
  const name = `garden-${++made}`;
  upstream.tools.set(name, ['water']);
  const settings = {
    DATABASE_URL: await createDatabase(),
    MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
    MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
    MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
    MCP_AGGREGATOR_TRUST: 'pinned',
  };
  const known = { folder, settings, name };
  await whileRunning(known, async (service) => {
    const registered = await request(service, 'POST', '/servers', {
      name,
      transport_type: 'HTTP',
      connection_config: { base_url: upstream.url(name) },
    });
    expect(registered.status).toBe(201);
    await eventuallyCalled(service, known);
  });
  return known;
}

async function withheldServer(): Promise<Known> {
  const known = await knownServer();
  change(known);
  await whileRunning(known, async (service) => {
    await eventually(async () => expect(await waiting(service)).toHaveLength(1));
  });
  return known;
}

async function whileRunning(
  { folder, settings }: Known,
  work: (service: ServiceProcess) => Promise<void>,
): Promise<void> {
  const service = await startProcess(folder, settings);
  try {
    await work(service);
  } finally {
    service.child.kill('SIGTERM');
    await service.exited;
  }
}

function call({ url, token }: ServiceProcess, { name }: Known): Promise<Answer> {
  const body = JSON.stringify({ name: `${name}.water`, arguments: {} });
  return send(url, '/api/v1/tools/call', { method: 'POST', token, body });
}

function eventuallyCalled(service: ServiceProcess, known: Known): Promise<void> {
  return eventually(async () => expect((await call(service, known)).status).toBe(200));
}

async function waiting(service: ServiceProcess): Promise<Waiting[]> {
  const { body } = await request(service, 'GET', '/approvals');
  return (body as { approvals: Waiting[] }).approvals;
}

async function decide(service: ServiceProcess, verdict: 'approve' | 'reject'): Promise<void> {
  const [one] = await waiting(service);
  const { status } = await request(service, 'POST', `/approvals/${one?.id}/${verdict}`, {
    expected_hash: one?.expected_hash,
  });
  expect(status).toBe(200);
}

function request(
  { url, token }: ServiceProcess,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  return send(url, API + path, { method, token, ...(body && { body: JSON.stringify(body) }) });
}

/** Of the audit log and the history. */
async function records({ settings }: Known, audit: string, history: string): Promise<unknown> {
  const pool = new pg.Pool({ connectionString: settings['DATABASE_URL'] });
  const { rows } = await pool.query<object>(
    `SELECT (SELECT count(*)::int FROM mcp.audit_log WHERE event = $1) AS audited,
            (SELECT count(*)::int FROM mcp.server_connection_history WHERE event_type = $2) AS history`,
    [audit, history],
  );
  await pool.end();
  return rows[0];
}
