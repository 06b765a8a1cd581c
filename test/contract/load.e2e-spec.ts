import { Pool } from 'undici';
import { startGateway } from '../support/gateway.js';
import { fixture, stdioPeer } from '../support/peers.js';

/** 100,000 calls are what issue 5 asks for; a run of all tests makes do with fewer. */
const CALLS = Number(process.env['LOAD_CALLS'] ?? 4_000);
const AT_ONCE = 200;
const SESSIONS = 500;

let gateway: Awaited<ReturnType<typeof startGateway>>;
let pool: Pool;

beforeAll(async () => {
  gateway = await startGateway(
    { peer: stdioPeer(fixture('peer-v1.mjs'), ['stdio']) },
    { MCP_AGGREGATOR_SESSION_TTL: '1' },
  );
  pool = new Pool(gateway.origin, { connections: AT_ONCE });
});
afterAll(async () => {
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
      const clients = { ada: await handshake(), bob: await handshake() };
      let next = 0;
      const wrong: string[] = [];
      const worker = async (client: keyof typeof clients): Promise<void> => {
        for (let id = ++next; id <= CALLS; id = ++next) {
          const text = `${client} ${id}`;
          const params = { name: 'peer__echo', arguments: { text } };
          // Both count alike, so that the same ids are under way at the same time.
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

describe('sessions that nobody ends', () => {
  it('are gone after their time', async () => {
    const ids = await Promise.all(Array.from({ length: SESSIONS }, () => handshake()));
    const [first = ''] = ids;
    expect((await post({ id: 1, method: 'ping' }, first)).status).toBe(200);
    await new Promise((resolve) => {
      setTimeout(resolve, 2_500);
    });
    const left = await Promise.all(ids.map((id) => post({ id: 1, method: 'ping' }, id)));
    expect(left.map(({ status }) => status)).toEqual(Array(SESSIONS).fill(404));
  });
});
