import { eventually } from '../../../../test/support/eventually.js';
import { heldBytes } from '../../../../test/support/memory.js';
import { fixture, type HttpPeer, httpPeer } from '../../../../test/support/peers.js';
import { connectUpstream } from '../connect/connect-upstream.js';
import type { ConnectOptions, UpstreamSession } from '../upstream.js';

const options: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 100_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: {},
  allowInsecureHttp: false,
};
const peers: HttpPeer[] = [];
const sessions: UpstreamSession[] = [];

async function open(
  kind: 'stdio' | 'sse' | 'http',
  behaviour: object,
  more: Partial<ConnectOptions> = {},
): Promise<UpstreamSession> {
  const settings = { ...options, ...more };
  const args = JSON.stringify(behaviour);
  let session: UpstreamSession;
  if (kind === 'stdio') {
    const command = [fixture('hostile.mjs'), 'stdio', args];
    const target = { kind: 'STDIO' as const, command: process.execPath, args: command, env: {} };
    session = await connectUpstream(target, settings);
  } else {
    const peer = await httpPeer('hostile.mjs', [kind, args]);
    peers.push(peer);
    const target = { kind: kind === 'sse' ? ('SSE' as const) : ('HTTP' as const), headers: {} };
    session = await connectUpstream({ ...target, url: peer.url }, settings);
  }
  sessions.push(session);
  return session;
}

const call = (session: UpstreamSession, name: string, timeoutMs = 60_000): Promise<unknown> =>
  session.request('tools/call', { name, arguments: { text: 'said' } }, { timeoutMs });

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close({ force: true })));
  await Promise.all(peers.splice(0).map((peer) => peer.stop()));
});

const large = { hugeBytes: 1_000_000, delayMs: 300, sse: true };

describe.each(['stdio', 'sse'] as const)(
  'an oversized answer among several calls over %s',
  (kind) => {
    it.each([
      [['result', 'id', 'jsonrpc']],
      [['id', 'jsonrpc', 'result']],
      [['jsonrpc', 'result', 'id']],
    ])('fails its own call at once: %j', async (hugeOrder) => {
      const session = await open(kind, { ...large, hugeOrder });
      const other = call(session, 'echo');
      await expect(call(session, 'huge')).rejects.toMatchObject({
        message: expect.stringContaining('MCP_AGGREGATOR_MAX_ANSWER_BYTES') as string,
      });
      await expect(other).resolves.toMatchObject({ content: [{ text: 'said' }] });
    });

    it('that names no request ends the session with the reason', async () => {
      const session = await open(kind, {
        ...large,
        mute: ['ping'],
        hugeOrder: ['jsonrpc', 'result'],
      });
      const mute = session.request('ping', undefined, { timeoutMs: 60_000 });
      const both = await Promise.allSettled([mute, call(session, 'huge')]);
      expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await expect(session.closed).resolves.toMatchObject({
        reason: expect.stringContaining('larger than 100000 bytes') as string,
      });
    });
  },
);

it.each(['stdio', 'sse', 'http'] as const)(
  'an oversized notification over %s fails no call',
  async (kind) => {
    const session = await open(kind, { ...large, hugeNotice: true });
    await expect(call(session, 'huge')).resolves.toMatchObject({ content: [{ text: 'small' }] });
  },
);

it('a process that writes large log lines to stdout has only their beginnings kept', async () => {
  const before = heldBytes();
  const session = await open(
    'stdio',
    { hugeBytes: 5_000_000, hugeLines: 20 },
    { maxAnswerBytes: 10_000_000 },
  );
  await eventually(() =>
    expect(session.logs().filter((line) => line.startsWith('[stdout] xxx'))).toHaveLength(20),
  );
  expect(heldBytes() - before).toBeLessThan(50_000_000);
});
