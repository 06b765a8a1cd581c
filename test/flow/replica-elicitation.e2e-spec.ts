import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestApp } from '../support/app.js';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { eventually } from '../support/eventually.js';
import { httpPeer, type HttpPeer } from '../support/peers.js';

const MODERN = '2026-07-28';

interface Answer {
  readonly result?: {
    readonly requestState?: string;
    readonly inputRequests?: Readonly<Record<string, object>>;
  };
}

describe('three replicas and a server that asks its users', () => {
  let cluster: BalancedReplicas;
  const servers: HttpPeer[] = [];

  beforeAll(async () => {
    cluster = await startBalanced(3);
    for (const [name, script, args] of [
      ['old', 'peer-v1.mjs', ['http']],
      ['new', 'peer-v2.mjs', ['http', 'modern']],
    ] as const) {
      const server = await httpPeer(script, args);
      servers.push(server);
      await cluster.register(
        { name, transport_type: 'HTTP', connection_config: { base_url: server.url } },
        `${name}.ask`,
      );
    }
  });
  afterAll(async () => {
    await cluster.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  /** A tool that asks for a colour, called by a stateless client. */
  async function ask(at: number, more: object = {}, user: 'alice' | 'bob' = 'alice') {
    const params = {
      name: 'old__ask',
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      },
      ...more,
    };
    const response = await fetch(`${cluster.replicas[at]?.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${cluster.tokens[user]}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': MODERN,
        'mcp-method': 'tools/call',
        'mcp-name': 'old__ask',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }),
    });
    return (await response.json()) as Answer;
  }

  const answerTo = ({ result }: Answer): object => {
    const [key = ''] = Object.keys(result?.inputRequests ?? {});
    const inputResponses = { [key]: { action: 'accept', content: { colour: 'red' } } };
    return { requestState: result?.requestState, inputResponses };
  };

  it('tell clients the same about their servers, before they have sessions to them', async () => {
    const instructionsAt = async ({ url }: TestApp): Promise<string | undefined> => {
      const client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { authorization: `Bearer ${cluster.tokens.alice}` } };
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
      await client.connect(transport);
      const instructions = client.getInstructions();
      await client.close();
      return instructions;
    };
    // Instructions are stored after the handshake, and the other replicas hear of them after that.
    await eventually(async () => {
      const told = await Promise.all(cluster.replicas.map(instructionsAt));
      expect(told[0]).toContain('## old\necho what you like');
      expect(told[0]).toContain('## new\necho what you like');
      expect(told).toEqual([told[0], told[0], told[0]]);
    });
  });

  it.each(['old', 'new'])('get the answers of users of both eras (%s server)', async (name) => {
    for (const client of [await cluster.legacyClient(), await cluster.modernClient()]) {
      for (let i = 0; i < 4; i++) {
        const { content } = await client.callTool({ name: `${name}__ask`, arguments: {} });
        expect(JSON.stringify(content)).toContain('red');
      }
    }
  });

  it('take an answer only from the user who was asked', async () => {
    const asked = await ask(0);
    expect(await ask(1, answerTo(asked), 'bob')).toMatchObject({
      error: { data: { reason: 'invalid_request_state' } },
    });
    expect(JSON.stringify(await ask(2, answerTo(asked)))).toContain('red');
  });

  it('say that the call has to be made again when the replica at which it waited is gone', async () => {
    const asked = await ask(0);
    await cluster.replicas[0]?.close();
    expect(await ask(1, answerTo(asked))).toMatchObject({
      id: 7,
      error: {
        message: expect.stringContaining('call again without requestState'),
        data: { reason: 'invalid_request_state', outcome: 'unknown' },
      },
    });
  });
});
