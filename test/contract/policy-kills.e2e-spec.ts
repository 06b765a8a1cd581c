import type { FailPoint } from '@app/platform';
import pg from 'pg';
import { EmbeddedDatabase } from '../../libs/platform/src/database/embedded-database.js';
import { Api } from '../support/api.js';
import { startApp, stopIntervals, type TestApp } from '../support/app.js';
import { engines } from '../support/database.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { ListingServer } from '../support/listing-server.js';
import { createDatabase } from '../support/postgres.js';
import { launch, type ServiceProcess, startProcess } from '../support/service-process.js';

/** CRASH_ROUNDS=12 makes 216 kills. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
/** Where the process is killed; in one of several lanes that change rows at the same time. */
const POINTS = [
  'policy.written',
  'tokens.committed',
  'approvals.decided',
  'discovery.written',
  'policy.committed',
  'tokens.written',
  'approvals.committed',
  'discovery.committed',
  'discovery.published',
] as const satisfies readonly FailPoint[];
type Point = (typeof POINTS)[number];

const TOOLS = ['sow', 'water', 'weed', 'prune', 'mow'];
/** Never changes, so that it can be called at any time. */
const STEADY = 'rest';
/** Overrides of the steady tool: everywhere, and in a view. */
const OVERRIDDEN = ['', '?view=crew'];
const PROGRAMS = ['p0', 'p1', 'p2', 'p3'];
const ADMIN = 'the-token-of-the-admin';
const secretOf = (program: string): string => `the-token-of-${program}-only`;

interface Service {
  readonly url: string;
  readonly token: string;
}

/** A row that is there or not; `undefined` while a change of it was not answered. */
type Expected = boolean | undefined;

/** What the service acknowledged. */
class Acknowledged {
  /** By kind and name, such as `grant p1`. */
  readonly rows = new Map<string, Expected>();
  readonly secrets = new Map<string, string>();
  readonly ids = new Map<string, string>();
  answered = 0;
  interrupted = 0;

  /** False if the service was killed before it answered. */
  async change(key: string, isThere: boolean, request: () => Promise<Answer>): Promise<boolean> {
    this.rows.set(key, undefined);
    const answer = await request().catch(() => undefined);
    if (!answer || (answer.text === '' && answer.status === 0)) {
      this.interrupted += 1;
      // The secret of a token that was issued again, if it was: that answer is lost.
      if (isThere) this.secrets.delete(key);
      return false;
    }
    if (answer.status >= 300) throw new Error(`${key}: ${answer.status} ${answer.text}`);
    this.answered += 1;
    this.rows.set(key, isThere);
    const { id, token } = (answer.body ?? {}) as { readonly id?: string; readonly token?: string };
    if (id !== undefined) this.ids.set(key, id);
    if (token !== undefined) this.secrets.set(key, token);
    return true;
  }
}

const request = ({ url, token }: Service, method: string, path: string, body?: object) =>
  send(url, `/api/v1/aggregator${path}`, {
    method,
    token,
    ...(body && { body: JSON.stringify(body) }),
  });

const call = ({ url }: Service, name: string): Promise<Answer> =>
  send(url, '/api/v1/tools/call', {
    method: 'POST',
    token: ADMIN,
    body: JSON.stringify({ name, arguments: {} }),
  });

/** Whether a program is let in at a view. */
async function isAdmitted({ url }: Service, token: string, view: string): Promise<boolean> {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'p', version: '1' },
  };
  const { status } = await send(url, `/mcp/views/${view}`, {
    method: 'POST',
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  expect([200, 401, 403, 404]).toContain(status);
  return status === 200;
}

describe.each(engines)('changes of the policy, of tokens and approvals on %s', (engine) => {
  const isShared = engine === 'PostgreSQL';
  const upstream = new ListingServer();
  const known = new Acknowledged();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let settings: Record<string, string>;
  /** Leads, is never killed, and hears of changes only by notifications. */
  let survivor: TestApp | undefined;
  let serverId: string;
  let version = 0;
  let kills = 0;

  beforeAll(async () => {
    await upstream.start();
    upstream.tools.set('garden', [...TOOLS, STEADY]);
    folder = await temporaryFolder();
    settings = {
      DATABASE_URL: isShared ? await createDatabase() : '',
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_TRUST: 'pinned',
      MCP_AGGREGATOR_TOKENS: [
        ...PROGRAMS.map((program) => `${program}:call:${secretOf(program)}`),
        `admin:admin:${ADMIN}`,
      ].join(),
    };
    if (isShared) survivor = await startApp(settings);
    const first = survivor ? undefined : await startProcess(folder.path, settings);
    const service: Service = survivor ? { url: survivor.url, token: ADMIN } : asService(first);
    serverId = await new Api(service).register({
      name: 'garden',
      transport_type: 'HTTP',
      connection_config: { base_url: upstream.url('garden') },
    });
    await request(service, 'POST', '/views', { slug: 'crew', rules: [{ effect: 'include' }] });
    await eventually(async () => expect((await call(service, 'garden.sow')).status).toBe(200));
    await eventually(async () => {
      expect((await request(service, 'GET', `/servers/${serverId}/discovery`)).body).toMatchObject({
        phase: 'DONE',
      });
    });
    for (const tool of TOOLS) known.rows.set(`tool ${tool}`, true);
    if (survivor) stopIntervals(survivor);
    first?.child.kill('SIGTERM');
    await first?.exited;
  }, 600_000);
  afterAll(async () => {
    await survivor?.close();
    await upstream.stop();
    await folder.remove();
  }, 600_000);

  const asService = (process: ServiceProcess | undefined): Service => {
    if (!process) throw new Error('no service has started');
    return { url: process.url, token: ADMIN };
  };
  const survivorOr = (service: Service): Service =>
    survivor ? { url: survivor.url, token: ADMIN } : service;

  /** What a service lists. */
  const rowsAt = async (service: Service): Promise<Set<string>> => {
    const list = async (path: string, key: string): Promise<Record<string, string>[]> => {
      const { body } = await request(service, 'GET', path);
      return (body as Record<string, Record<string, string>[]>)[key] ?? [];
    };
    const path = `/tools/${await steadyId(service)}/override`;
    const overridden = await Promise.all(
      OVERRIDDEN.map(async (query) => {
        const { status } = await request(service, 'GET', path + query);
        expect([200, 404]).toContain(status);
        return status === 200 ? [`override ${query}`] : [];
      }),
    );
    return new Set([
      ...(await list('/views?limit=200', 'views')).map(({ slug }) => `view ${slug}`),
      ...(await list('/tokens?limit=200', 'tokens')).map(({ name }) => `token ${name}`),
      ...(await list('/grants?limit=200', 'grants'))
        .filter(({ view }) => view === 'crew')
        .map(({ subject }) => `grant ${subject}`),
      ...overridden.flat(),
    ]);
  };
  const steadyId = async (service: Service): Promise<string> => {
    const { body } = await request(service, 'GET', `/servers/${serverId}/tools`);
    const { tools } = body as { tools: { id: string; original_name: string }[] };
    return tools.find(({ original_name: name }) => name === STEADY)?.id ?? '';
  };

  /** Every acknowledged row is there, and nothing that was withdrawn lets anyone through. */
  const check = async (service: Service): Promise<void> => {
    const rows = await rowsAt(service);
    const wrong: string[] = [];
    for (const [key, expected] of known.rows) {
      if (key.startsWith('tool ') || expected === undefined) continue;
      if (rows.has(key) !== expected) wrong.push(`${key} should be ${expected ? 'there' : 'gone'}`);
    }
    for (const program of PROGRAMS) {
      const isIn = await isAdmitted(service, secretOf(program), 'crew');
      if (isIn !== rows.has(`grant ${program}`)) wrong.push(`${program} is admitted: ${isIn}`);
    }
    for (const [key, secret] of known.secrets) {
      const { status } = await request({ url: service.url, token: secret }, 'GET', '/state');
      if ((status !== 401) !== rows.has(key)) wrong.push(`${key} is answered ${status}`);
    }
    expect(wrong).toEqual([]);
  };
  const checkWithheld = async (service: Service): Promise<void> => {
    const wrong: string[] = [];
    for (const tool of TOOLS) {
      const { status, body } = await call(service, `garden.${tool}`);
      const isRefused = status === 403;
      if (isRefused) expect(body).toMatchObject({ error_code: 'QUARANTINED' });
      const expected = known.rows.get(`tool ${tool}`);
      if (expected !== undefined && isRefused === expected) wrong.push(`${tool}: ${status}`);
    }
    expect(wrong).toEqual([]);
  };
  /** From now on, what was not answered is as the rows have it. */
  const adopt = async (service: Service): Promise<void> => {
    const rows = await rowsAt(service);
    for (const [key, expected] of known.rows) {
      if (expected !== undefined) continue;
      const isThere = key.startsWith('tool ')
        ? (await call(service, `garden.${key.slice(5)}`)).status !== 403
        : rows.has(key);
      known.rows.set(key, isThere);
    }
  };

  const changeTools = (): void => {
    version += 1;
    for (const tool of TOOLS) {
      upstream.members.set(`garden ${tool}`, {
        description: `Handles ${tool}, version ${version}`,
      });
      known.rows.set(`tool ${tool}`, false);
    }
  };
  const waiting = async (service: Service) => {
    const { body } = await request(service, 'GET', '/approvals?limit=100');
    return (body as { approvals: { id: string; name: string; expected_hash: string }[] }).approvals;
  };
  const withholdAll = async (service: Service): Promise<void> => {
    changeTools();
    const lister = survivorOr(service);
    // A server that has just connected is discovered anyway.
    await eventually(async () => {
      expect((await request(lister, 'POST', `/servers/${serverId}/tools/refresh`)).status).toBe(
        202,
      );
      const hashes = (await waiting(lister)).map(({ expected_hash: hash }) => hash);
      expect(new Set(hashes).size).toBe(TOOLS.length);
      const { body } = await request(lister, 'GET', `/approvals/${(await waiting(lister))[0]?.id}`);
      expect(JSON.stringify(body)).toContain(`version ${version}"`);
    });
    await eventually(() => checkWithheld(lister));
    await eventually(() => checkWithheld(service));
  };

  /** Lanes of changes, one after the other each, until the service is killed. */
  const lanes = (service: Service, tool: string, wave: number): (() => Promise<boolean>)[] => {
    let turn = 0;
    const toggle = (key: string, give: () => Promise<Answer>, take: () => Promise<Answer>) => {
      const isThere = known.rows.get(key) === true;
      return known.change(key, !isThere, isThere ? take : give);
    };
    const names = [0, 1].map((i) => `${wave}-${i}`);
    return [
      () => {
        const program = PROGRAMS[turn++ % PROGRAMS.length] ?? '';
        const grant = { subject_kind: 'token', subject: program, view: 'crew', level: 'call' };
        return toggle(
          `grant ${program}`,
          () => request(service, 'POST', '/grants', grant),
          async () => {
            const { body } = await request(service, 'GET', '/grants?limit=200');
            const { grants } = body as { grants: { id: string; subject: string; view: string }[] };
            const id = grants.find((one) => one.subject === program && one.view === 'crew')?.id;
            return request(service, 'DELETE', `/grants/${id}`);
          },
        );
      },
      () => {
        const slug = `view-${names[turn++ % 2]}`;
        return toggle(
          `view ${slug}`,
          () => request(service, 'POST', '/views', { slug, rules: [{ effect: 'include' }] }),
          () => request(service, 'DELETE', `/views/${slug}`),
        );
      },
      () => {
        const name = `token-${names[turn++ % 2]}`;
        return toggle(
          `token ${name}`,
          () => request(service, 'POST', '/tokens', { name, scopes: ['read'] }),
          () => request(service, 'DELETE', `/tokens/${known.ids.get(`token ${name}`)}`),
        );
      },
      async () => {
        const query = OVERRIDDEN[turn++ % OVERRIDDEN.length] ?? '';
        const path = `/tools/${tool}/override${query}`;
        return toggle(
          `override ${query}`,
          () => request(service, 'PUT', path, { title: 'Another title' }),
          () => request(service, 'DELETE', path),
        );
      },
    ];
  };
  const approving = async (service: Service): Promise<boolean> => {
    const all = await waiting(service).catch(() => []);
    for (const { id, name, expected_hash } of all) {
      const path = `/approvals/${id}/approve`;
      const isDone = await known.change(`tool ${name}`, true, () =>
        request(service, 'POST', path, { expected_hash }),
      );
      if (!isDone) return false;
    }
    return false;
  };

  const burst = async (service: Service, wave: number): Promise<void> => {
    const untilKilled = async (lane: () => Promise<boolean>): Promise<void> => {
      for (let goesOn = true; goesOn;) goesOn = await lane().catch(rethrowUnlessLost);
    };
    const tool = await steadyId(service);
    // Wrong tokens are limited: those that are gone were tried before, at each service.
    for (const key of known.secrets.keys()) {
      if (known.rows.get(key) === false) known.secrets.delete(key);
    }
    const work = [...lanes(service, tool, wave), () => approving(service)];
    await Promise.all(work.map(untilKilled));
  };

  /** What the kill at a point left, at a service that has started since or was told of the changes. */
  const checkLeft = async (service: Service, point: Point): Promise<void> => {
    if (!survivor) await check(service);
    else await eventually(() => check(service));
    const isRead = point !== 'discovery.written';
    if (!isRead && survivor) await request(service, 'POST', `/servers/${serverId}/tools/refresh`);
    if (isRead && !survivor) {
      // What was committed holds from the first request on.
      for (const tool of TOOLS) {
        if (known.rows.get(`tool ${tool}`) !== false) continue;
        expect((await call(service, `garden.${tool}`)).status).toBe(403);
      }
    }
    await eventually(() => checkWithheld(service));
    await adopt(service);
  };

  /** With the embedded database the next service shows what is left; one that is killed as it starts does not. */
  let left: Point | undefined;
  const whileRunning = async (
    more: Record<string, string>,
    work: (service: Service) => Promise<void>,
  ): Promise<ServiceProcess> => {
    const running = await startProcess(folder.path, { ...settings, ...more });
    const service = asService(running);
    if (left) await checkLeft(service, left);
    else await check(service);
    left = undefined;
    await work(service);
    return running;
  };
  const checkByRestart = async (): Promise<void> => {
    const running = await whileRunning({}, () => Promise.resolve());
    running.child.kill('SIGKILL');
    await running.exited;
  };

  const killAt = async (point: Point, nth: number): Promise<void> => {
    const isDiscovery = point.startsWith('discovery.');
    const armed = { MCP_AGGREGATOR_FAIL_POINT: `${point}:${isDiscovery ? 1 : nth}` };
    if (isDiscovery && !survivor) {
      if (left) await checkByRestart();
      changeTools();
      expect(await launch(folder.path, { ...settings, ...armed }).exited).toBe('SIGKILL');
    } else {
      const running = await whileRunning(armed, async (service) => {
        if (isDiscovery) {
          changeTools();
          // It opens a session of its own to the server, which it discovers.
          await call(service, `garden.${STEADY}`).catch(() => undefined);
        } else {
          await withholdAll(service);
          await burst(service, kills);
        }
      });
      expect(await running.exited).toBe('SIGKILL');
    }
    kills += 1;
    if (survivor) await checkLeft(survivorOr({ url: '', token: '' }), point);
    else left = point;
  };

  it(
    'lose nothing that was acknowledged and let nothing through that was withdrawn, wherever the process is killed',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, point] of POINTS.entries()) {
          const nth = 1 + ((round + i) % 3);
          await killAt(point, nth);
        }
      }
      await checkByRestart();
      await survivor?.close();
      survivor = undefined;
      const counted = await counts(folder.path, settings);
      expect(counted.differing).toEqual([]);
      expect(kills).toBe(ROUNDS * POINTS.length);
      expect(known.answered).toBeGreaterThan(kills);
      if (ROUNDS > 1) {
        const { answered, interrupted } = known;
        process.stdout.write(
          `${engine}: ${kills} kills, ${answered} changes acknowledged, ${interrupted} interrupted\n`,
        );
      }
    },
    600_000 + ROUNDS * POINTS.length * 120_000,
  );
});

function rethrowUnlessLost(error: unknown): boolean {
  if (error instanceof Error && 'code' in error) return false; // the connection was lost
  throw error;
}

/** Each change is a row, an entry of the history and one of the audit log, or none of them. */
async function counts(
  folder: string,
  settings: Record<string, string>,
): Promise<{ readonly differing: object[] }> {
  const embedded = new EmbeddedDatabase();
  const options = settings['DATABASE_URL']
    ? { connectionString: settings['DATABASE_URL'] }
    : embedded.open(folder);
  const pool = new pg.Pool(options);
  const { rows } = await pool.query<object>(`
    WITH noted AS (SELECT change AS event, count(*) AS n FROM mcp.policy_history GROUP BY 1),
    audited AS (SELECT event, count(*) AS n FROM mcp.audit_log GROUP BY 1),
    balance AS (
      SELECT 'tokens' AS event, (SELECT count(*) FROM mcp.issued_tokens) AS n
      UNION ALL SELECT 'grants', (SELECT count(*) - 1 FROM mcp.grants)
      UNION ALL SELECT 'views', (SELECT count(*) - 1 FROM mcp.views)
      UNION ALL SELECT 'overrides', (SELECT count(*) FROM mcp.tool_overrides)),
    made AS (
      SELECT m.event, coalesce((SELECT n FROM audited a WHERE a.event = m.plus), 0)
                    - coalesce((SELECT n FROM audited a WHERE a.event = m.minus), 0) AS n
      FROM (VALUES ('tokens', 'token.issued', 'token.revoked'),
                   ('grants', 'grant.given', 'grant.withdrawn'),
                   ('views', 'view.saved', 'view.deleted'),
                   ('overrides', 'override.set', 'override.removed')) AS m (event, plus, minus))
    SELECT event, noted.n AS one, audited.n AS other FROM noted LEFT JOIN audited USING (event)
    WHERE noted.n IS DISTINCT FROM audited.n
    UNION ALL
    SELECT event, balance.n, made.n FROM balance JOIN made USING (event) WHERE balance.n <> made.n`);
  await pool.end();
  await embedded.close();
  return { differing: rows };
}
