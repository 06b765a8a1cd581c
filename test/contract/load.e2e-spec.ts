import { Pool } from 'undici';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway.js';
import { fixture, stdioPeer } from '../support/peers.js';

/** 100,000 calls are the target; a normal test run makes fewer. */
const CALLS = Number(process.env['LOAD_CALLS'] ?? 4_000);
const AT_ONCE = 200;
const SESSIONS = 500;

let gateway: Awaited<ReturnType<typeof startGateway>>;
let pool: Pool;

const start = async (settings: Record<string, string> = {}): Promise<void> => {
  gateway = await startGateway({ peer: stdioPeer(fixture('peer-v1.mjs'), ['stdio']) }, settings);
  pool = new Pool(gateway.origin, { connections: AT_ONCE });
};
afterEach(async () => {
  await pool.destroy();
  await gateway.close();
});

async function post(message: object, session?: string) {
  const { statusCode, headers, body } = await pool.request({
    path: '/mcp',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  return { status: statusCode, session: headers['mcp-session-id'], body: await body.text() };
}

async function handshake(): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const { session } = await post({ id: 0, method: 'initialize', params });
  if (typeof session !== 'string') throw new Error('no session');
  return session;
}

describe('two clients with the same request ids', () => {
  it(
    `get their own answers, all of them, ${AT_ONCE} calls at a time`,
    async () => {
      await start();
      const clients = { ada: await handshake(), bob: await handshake() };
      let next = 0;
      const wrong: string[] = [];
      const worker = async (client: keyof typeof clients): Promise<void> => {
        for (let id = ++next; id <= CALLS; id = ++next) {
          const text = `${client} ${id}`;
          const params = { name: 'peer__echo', arguments: { text } };
          // Both clients count alike, so that the same ids are in flight at the same time.
          const request = { id: id % 100, method: 'tools/call', params };
          const { body } = await post(request, clients[client]);
          const expected = { content: [{ type: 'text', text }] };
          if (!body.includes(JSON.stringify(expected)) || !body.includes(`"id":${id % 100}`)) {
            wrong.push(`${text}: ${body}`);
          }
        }
      };
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => worker(i % 2 === 0 ? 'ada' : 'bob')),
      );
      expect(wrong).toEqual([]);
    },
    Math.max(60_000, CALLS * 5),
  );
});

describe('sessions that no client ends', () => {
  it('expire', async () => {
    await start({ MCP_AGGREGATOR_SESSION_TTL: '1' });
    const handshakes = (count: number) =>
      Promise.all(Array.from({ length: count }, () => handshake()));
    const ids = await handshakes(SESSIONS);
    // Younger sessions, requested once each, since a request renews a session: when one has expired, all older ones
    // have.
    const probes = await handshakes(SESSIONS);
    const ping = async (id = '') => (await post({ id: 1, method: 'ping' }, id)).status;
    await eventually(async () => expect(await ping(probes.pop())).toBe(404));
    expect(new Set(await Promise.all(ids.map(ping)))).toEqual(new Set([404]));
  });
});
