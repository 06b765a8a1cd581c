import type { UpstreamTarget } from '@app/mcp-client';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { bridgeStdio } from '../../apps/aggregator/src/cli/stdio-bridge.js';
import { callTool } from '../../apps/aggregator/src/cli/tools/call-tool.js';
import { RestClient } from '../../apps/aggregator/src/cli/rest-client.js';
import { screenOf } from '../../apps/aggregator/src/cli/screen.js';
import { textOf } from '../../apps/aggregator/src/cli/session.js';
import { startGateway } from '../support/gateway.js';
import { fixture, type HttpPeer, httpPeer, stdioPeer } from '../support/peers.js';

/** Values that JavaScript would write differently after parsing. */
const odd =
  '{"b":9007199254740993,"2":1e400,"1":-0,"a":1.0, "a":0.1000000000000000055511151231257827,' +
  '"\\u0061b":"\\ud800\\/ é","__proto__":{"x":1E2},"constructor":{"prototype":[]},"list":[1.0,{"2":1,"1":2}]}';

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const modernMeta = JSON.stringify({
  [versionKey]: '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
}).slice(1, -1);

let gateway: Awaited<ReturnType<typeof startGateway>>;
const peers: HttpPeer[] = [];
const servers = ['stdio', 'http', 'sse', 'stdio-modern', 'http-modern'];

beforeAll(async () => {
  const targets: Record<string, UpstreamTarget> = {};
  for (const server of servers) {
    const [kind = '', era = 'legacy'] = server.split('-');
    if (kind === 'stdio') {
      targets[server] = stdioPeer(fixture('verbatim.mjs'), [kind, era]);
      continue;
    }
    const peer = await httpPeer('verbatim.mjs', [kind, era]);
    peers.push(peer);
    targets[server] = { kind: kind === 'sse' ? 'SSE' : 'HTTP', url: peer.url, headers: {} };
  }
  gateway = await startGateway(targets);
});
afterAll(async () => {
  await gateway.close();
  for (const peer of peers) await peer.stop();
});

interface Sent {
  readonly status: number;
  /** The messages of a JSON response or an event stream, as text. */
  readonly messages: readonly string[];
}

async function post(
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Sent & { readonly session: string | null }> {
  const answer = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
  const text = await answer.text();
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => line ?? '');
  const session = answer.headers.get('mcp-session-id');
  return { status: answer.status, messages: isStream ? data : [text], session };
}

async function handshake(path: string, capabilities: object = {}): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: {} };
  const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const { session } = await post(path, JSON.stringify(message));
  if (session === null) throw new Error('no session');
  return session;
}

const modernHeaders = (name: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});

/** Over every entry point: calls a tool of a server with these arguments, or sends any other message. */
const entries: Readonly<
  Record<string, (server: string, tool: string, args: string) => Promise<Sent>>
> = {
  '/mcp': async (server, tool, args) =>
    post(
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${server}__${tool}","arguments": ${args} }}`,
      { 'mcp-session-id': await handshake('/mcp') },
    ),
  '/mcp with _meta and other parameters': async (server, tool, args) =>
    post(
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"n":1.0,"progressToken":1.0},"x":2.0,"arguments":${args},"name":"${server}__${tool}"}}`,
      { 'mcp-session-id': await handshake('/mcp') },
    ),
  '/mcp of 2026-07-28': (server, tool, args) =>
    post(
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${server}__${tool}","arguments":${args},"_meta":{${modernMeta}}}}`,
      modernHeaders(`${server}__${tool}`),
    ),
  '/mcp/search': async (server, tool, args) =>
    post(
      '/mcp/search',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"${server}.${tool}","arguments":${args}}}}`,
      { 'mcp-session-id': await handshake('/mcp/search') },
    ),
  '/mcp/servers/{name}': async (server, tool, args) =>
    post(
      `/mcp/servers/${server}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${args}}}`,
      { 'mcp-session-id': await handshake(`/mcp/servers/${server}`) },
    ),
  'a batch': async (server, tool, args) =>
    post(
      '/mcp',
      `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${server}__${tool}","arguments":${args}}}]`,
      { 'mcp-session-id': await handshake('/mcp') },
    ),
  REST: (server, tool, args) =>
    post('/api/v1/tools/call', `{"name":"${server}.${tool}","arguments":${args}}`),
};
const entryNames = Object.keys(entries);
const call = (entry: string, ...what: [string, string, string]): Promise<Sent> => {
  const through = entries[entry];
  if (!through) throw new Error(`no entry ${entry}`);
  return through(...what);
};

/** The text in the first block of the last message. */
function textIn({ messages }: Sent): string {
  const message = JSON.parse(messages.at(-1) ?? '') as {
    result?: { content: { text: string }[] };
    content?: { text: string }[];
  };
  const text = (message.result?.content ?? message.content)?.[0]?.text;
  if (text === undefined) throw new Error(`no text in ${messages.at(-1)}`);
  return text;
}

describe.each(servers)('towards a server over %s', (server) => {
  it.each(entryNames)('arguments are what came to %s', async (entry) => {
    expect(textIn(await call(entry, server, 'echo', odd))).toContain(`"arguments":${odd}`);
  });

  it.each(entryNames)('line ends in what came to %s change no message', async (entry) => {
    const args = '{\n  "n": 1.0,\r\n  "text": "a\\n"\n}';
    const told = textIn(await call(entry, server, 'echo', args));
    expect(told.replaceAll(/[\r\n]/g, ' ')).toContain(args.replaceAll(/[\r\n]/g, ' '));
  });

  it('other parameters and _meta are forwarded unchanged', async () => {
    const told = textIn(await call('/mcp with _meta and other parameters', server, 'echo', '{}'));
    expect(told).toContain('"x":2.0');
    expect(told).toContain('"n":1.0');
  });
});

describe.each(servers)('from a server over %s', (server) => {
  const result = `{"content":[],"structuredContent":${odd},"isError":false}`;

  it.each(entryNames)('a result is handed on as it is to %s', async (entry) => {
    const { messages } = await call(entry, server, 'say', JSON.stringify({ json: result }));
    expect(messages.at(-1)).toContain(`"structuredContent":${odd}`);
  });

  it.each([
    ['NaN', '{"content":[{"type":"text","text":"PAD"}],"structuredContent":{"n":NaN}}', 'NaN'],
    ['a comma too many', '{"content":[{"type":"text","text":"PAD"}],"a":[1,]}', 'unexpected'],
    ['half a text', '{"content":[{"type":"text","text":"PAD"}],"a":', 'unexpected'],
  ])('%s in a result is refused at every size', async (_what, json, reason) => {
    for (const size of [0, 40_000, 1_000_000]) {
      for (const stream of [false, true]) {
        const args = JSON.stringify({ json: json.replace('PAD', 'x'.repeat(size)), stream });
        const { status, messages } = await call('REST', server, 'say', args);
        expect([size, status, messages[0]]).toEqual([
          size,
          502,
          expect.stringMatching(new RegExp(`Server ${server} .*${reason}.* at byte \\d+`)),
        ]);
        expect(JSON.parse(messages[0] ?? '')).toMatchObject({ error_code: 'EXECUTION_FAILED' });
      }
    }
    const inMcp = await call(
      '/mcp',
      server,
      'say',
      JSON.stringify({ json: json.replace('PAD', '') }),
    );
    expect(JSON.parse(inMcp.messages.at(-1) ?? '')).toMatchObject({ result: { isError: true } });
  });

  it('a byte order mark before an answer does no harm', async () => {
    const json = `\ufeff{"jsonrpc":"2.0","id":ID,"result":${result}}`;
    const { messages } = await call('/mcp', server, 'line', JSON.stringify({ json }));
    expect(messages.at(-1)).toContain(odd);
  });

  it('the data of an error is forwarded unchanged', async () => {
    const json = `{"code":-32050,"message":"no","data":${odd}}`;
    const { messages } = await call('/mcp', server, 'refuse', JSON.stringify({ json }));
    expect(messages.at(-1)).toContain(`"data":${odd}`);
  });
});

describe.each(['stdio', 'http', 'sse'])('while a server over %s works on a call', (server) => {
  it('its progress and logs reach the client as they are, under the token of the client', async () => {
    const args = JSON.stringify({
      progress: '{"progress":1.0,"total":1e400,"progressToken":TOKEN}',
      log: `{"level":"info","data":${odd},"n":9007199254740993}`,
    });
    const { messages } = await post(
      '/mcp',
      `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"${server}__tell","arguments":${args},"_meta":{"progressToken":9007199254740995}}}`,
      { 'mcp-session-id': await handshake('/mcp') },
    );
    expect(messages[0]).toContain(
      '"params":{"progress":1.0,"total":1e400,"progressToken":9007199254740995}',
    );
    expect(messages[1]).toContain(`"params":{"level":"info","data":${odd},"n":9007199254740993}`);
    expect(messages[2]).toMatch(/^\{"jsonrpc":"2\.0","id":9007199254740993,/);
  });

  it('its request and the answer are forwarded unchanged', async () => {
    const session = { 'mcp-session-id': await handshake('/mcp', { elicitation: { form: {} } }) };
    const json = `{"message":"?","requestedSchema":{"type":"object","properties":{}},"x":${odd}}`;
    const asking = await fetch(`${gateway.origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...session },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${server}__ask","arguments":{"json":${JSON.stringify(json)}}}}`,
    });
    let text = '';
    for await (const chunk of asking.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const [, id] = /"id":(\d+),"method":"elicitation\/create"[^\n]*\n\n/.exec(text) ?? [];
      if (id === undefined) continue;
      expect(text).toContain(`"params":${json}`);
      const answer = `{"action":"accept","content":${odd}}`;
      await post('/mcp', `{"jsonrpc":"2.0","id":${id},"result":${answer}}`, session);
      text = text.replace('elicitation/create', 'asked');
    }
    const told = textIn({ status: 200, messages: [/.*data: (.*)\n\n$/s.exec(text)?.[1] ?? ''] });
    expect(told).toBe(
      `{"jsonrpc":"2.0","id":9007199254740993,"result":{"action":"accept","content":${odd}}}`,
    );
  });
});

describe('the command line', () => {
  const rest = (): RestClient => new RestClient({ url: gateway.origin, token: undefined });
  const pipe = screenOf({}, {});

  it('sends the arguments that were typed', async () => {
    const outcome = await callTool(rest(), 'stdio.echo', { given: [odd] });
    expect(textOf(outcome, pipe)).toContain(`"arguments":${odd}`);
    const given = ['n=9007199254740993', 'x=1.0', 't=a'];
    const named = await callTool(rest(), 'stdio.echo', { given });
    expect(textOf(named, pipe)).toContain('"arguments":{"n":9007199254740993,"x":1.0,"t":"a"}');
  });

  it('prints the answer as it came', async () => {
    const args = JSON.stringify({ json: `{"content":[],"structuredContent":${odd}}` });
    const outcome = await callTool(rest(), 'stdio.say', { given: [args] });
    expect(outcome.jsonText).toContain(`"structuredContent":${odd}`);
  });

  it('is a server on standard input and output that changes nothing', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const url = `${gateway.origin}/mcp/servers/stdio`;
    const closed = bridgeStdio({ input, output, url, token: undefined });
    const answerTo = async (line: string): Promise<string> => {
      input.write(`${line}\n`);
      const [answer] = (await once(output, 'data')) as [Buffer];
      return answer.toString();
    };
    const params = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}';
    await answerTo(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":${params}}`);
    const args = `{"text":"one\u2028line","odd":${odd}}`;
    const answer = await answerTo(
      `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`,
    );
    expect(answer).toMatch(/"id":9007199254740993[,}]/);
    expect(textIn({ status: 200, messages: [answer] })).toContain(`"arguments":${args}`);
    expect(await answerTo('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":NaN}}')).toContain(
      'Parse error: NaN at byte',
    );
    input.end();
    await closed;
  });
});

describe('ids', () => {
  it.each(['9007199254740993', '-9007199254740995', '"a\\u0062"', '7', '0'])(
    '%s comes back',
    async (id) => {
      const session = { 'mcp-session-id': await handshake('/mcp') };
      const { messages } = await post(
        '/mcp',
        `{"jsonrpc":"2.0","id":${id},"method":"ping"}`,
        session,
      );
      expect(messages[0]).toContain(`"id":${id === '"a\\u0062"' ? '"ab"' : id},`);
      const { messages: modern } = await post(
        '/mcp',
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"http__echo","_meta":{${modernMeta}}}}`,
        modernHeaders('http__echo'),
      );
      expect(modern[0]).toContain(`"id":${id === '"a\\u0062"' ? '"ab"' : id},`);
    },
  );
});

describe('what is no JSON', () => {
  const wrong = {
    NaN: '{"n":NaN}',
    'a comma too many': '{"n":[1,]}',
    'half a text': '{"n":',
    'a second text': '{}{}',
    'a control character': '{"n":"\u0001"}',
    'bytes that are not UTF-8': Buffer.from('{"n":"\xff"}', 'latin1'),
    'a surrogate as UTF-8': Buffer.from('{"n":"\xed\xa0\x80"}', 'latin1'),
  };

  it.each(Object.entries(wrong))('%s is refused, whatever its size', async (_what, args) => {
    const session = { 'mcp-session-id': await handshake('/mcp') };
    for (const size of [0, 100_000]) {
      const inside = Buffer.from(args);
      const pad = `"${'x'.repeat(size)}"`;
      const mcp = Buffer.concat([
        Buffer.from(
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stdio__echo","pad":${pad},"arguments":`,
        ),
        inside,
        Buffer.from('}}'),
      ]);
      const { status, messages } = await post('/mcp', mcp, session);
      expect([status, messages[0]]).toEqual([400, expect.stringContaining('-32700')]);
      const rest = Buffer.concat([
        Buffer.from(`{"name":"stdio.echo","arguments":{"pad":${pad},"x":`),
        inside,
        Buffer.from('}}'),
      ]);
      expect((await post('/api/v1/tools/call', rest)).status).toBe(400);
    }
  });

  it('is not a byte order mark', async () => {
    const session = { 'mcp-session-id': await handshake('/mcp') };
    const ping = '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}';
    expect((await post('/mcp', ping, session)).status).toBe(200);
    const rest = '\ufeff{"name":"stdio.echo","arguments":{"n":1.0}}';
    expect(textIn(await post('/api/v1/tools/call', rest))).toContain('{"n":1.0}');
  });
});
