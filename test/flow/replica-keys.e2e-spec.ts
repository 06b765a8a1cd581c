import { Peers } from '@app/platform';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { fixture, httpPeer, type HttpPeer } from '../support/peers.js';
import { Api } from '../support/api.js';
import { createDatabase } from '../support/postgres.js';

const TOKEN = 'a-token-for-this-test-only';
const BEFORE = 'the-key-before-the-rotation';
const AFTER = 'the-key-after-the-rotation';
const MODERN = '2026-07-28';

describe('replicas while their key is rotated', () => {
  const replicas: TestApp[] = [];
  let asking: HttpPeer;

  beforeAll(async () => {
    const DATABASE_URL = await createDatabase();
    const MCP_AGGREGATOR_TOKENS = `ada:admin:${TOKEN}`;
    // As a rolling restart leaves them: some have the new key beside the one before, others only that.
    for (const keys of [
      { MCP_CREDENTIAL_KEY: BEFORE },
      { MCP_CREDENTIAL_KEY: AFTER, MCP_CREDENTIAL_KEY_PREVIOUS: BEFORE },
      { MCP_CREDENTIAL_KEY: AFTER, MCP_CREDENTIAL_KEY_PREVIOUS: BEFORE },
    ]) {
      replicas.push(await startApp({ DATABASE_URL, MCP_AGGREGATOR_TOKENS, ...keys }));
    }
    await eventually(() => {
      for (const one of replicas) {
        for (const { app } of replicas) {
          const { self } = app.get(Peers);
          const peers = one.app.get(Peers);
          if (peers.self !== self) expect(peers.get(self)).toBeDefined();
        }
      }
    });
    // The row is sealed with the key that every replica knows.
    const api = new Api({ url: replicas[0]?.url ?? '', token: TOKEN });
    asking = await httpPeer('peer-v2.mjs', ['http', 'modern']);
    await api.register({
      name: 'asking',
      transport_type: 'HTTP',
      connection_config: { base_url: asking.url },
    });
    await api.register({
      name: 'peer',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture('peer-v1.mjs'), 'stdio'] },
    });
  }, 120_000);
  afterAll(async () => {
    for (const replica of replicas.toReversed()) await replica.close();
    await asking.stop();
  });

  const post = (at: TestApp, path: string, body: object, session?: string): Promise<Answer> =>
    send(at.url, path, {
      method: 'POST',
      token: TOKEN,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(session && { 'mcp-session-id': session }),
      },
      body: JSON.stringify(body),
    });

  it('run a STDIO server for one another, with either key', async () => {
    for (const replica of replicas) {
      await eventually(async () => {
        const call = { name: 'peer.echo', arguments: { text: 'hi' } };
        expect((await post(replica, '/api/v1/tools/call', call)).status).toBe(200);
      });
    }
  });

  it('serve the client sessions of one another, with either key', async () => {
    for (const owner of replicas) {
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
      const { headers } = await post(owner, '/mcp', initialize);
      for (const replica of replicas) {
        const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
        const { status } = await post(replica, '/mcp', ping, headers['mcp-session-id']);
        expect(status).toBe(200);
      }
    }
  });

  /** A tool whose server keeps the state of its question with the client, called by a stateless client. */
  async function ask(at: TestApp, more: object = {}): Promise<Asked> {
    const name = 'asking__ask';
    const params = {
      name,
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      },
      ...more,
    };
    const { body } = await send(at.url, '/mcp', {
      method: 'POST',
      token: TOKEN,
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': MODERN,
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }),
    });
    return body as Asked;
  }

  it('take the answer to a question that another one passed on, with either key', async () => {
    for (const asked of replicas) {
      for (const answered of replicas) {
        const { result } = await ask(asked);
        const [key = ''] = Object.keys(result?.inputRequests ?? {});
        const inputResponses = { [key]: { action: 'accept', content: { colour: 'red' } } };
        const answer = { requestState: result?.requestState, inputResponses };
        expect(JSON.stringify(await ask(answered, answer))).toContain('red');
      }
    }
  });
});

interface Asked {
  readonly result?: {
    readonly requestState?: string;
    readonly inputRequests?: Readonly<Record<string, object>>;
  };
}
