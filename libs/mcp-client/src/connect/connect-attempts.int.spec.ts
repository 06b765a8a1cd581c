import { httpAnswer, RawServer } from '../../../../test/support/raw-server.js';
import type { ConnectOptions, UpstreamSession, UpstreamTarget } from '../upstream.js';
import { connectUpstream } from './connect-upstream.js';

const OPTIONS: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 10_000,
  clientInfo: { name: 'c', version: '1' },
  clientCapabilities: {},
  allowInsecureHttp: false,
};

describe(connectUpstream.name, () => {
  const sessions: UpstreamSession[] = [];
  afterEach(() => Promise.all(sessions.splice(0).map((session) => session.close({ force: true }))));

  const shell = (script: string, env: Record<string, string> = {}): UpstreamTarget => ({
    kind: 'STDIO',
    command: 'sh',
    args: ['-c', script],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  async function connect(
    target: UpstreamTarget,
    more: Partial<ConnectOptions> = {},
  ): Promise<UpstreamSession> {
    const session = await connectUpstream(target, { ...OPTIONS, ...more });
    sessions.push(session);
    return session;
  }

  it('starts a process again with the handshake when the probe ends it', async () => {
    const opening = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`;
    const session = await connect(
      shell(`
        read -r line
        case "$line" in *'"initialize"'*) ;; *) exit 1 ;; esac
        id=$(printf '%s' "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":${opening}}'
        cat > /dev/null`),
    );
    expect([session.era, session.serverInfo]).toEqual(['legacy', { name: 's', version: '1' }]);
  });

  it('fails with the last words of a process, without its variables', async () => {
    const lines: string[] = [];
    const target = shell('echo "Error: key $KEY is wrong" >&2; exit 1', { KEY: 'canary-7f3a9c' });
    await expect(
      connect(target, { onLogLine: (line) => lines.push(line), priorEra: 'legacy' }),
    ).rejects.toThrow(
      /^Connecting failed: (?!Connecting failed).+; its last words: Error: key \*{8} is wrong$/,
    );
    expect(lines).toEqual(['Error: key ******** is wrong']);
  });

  it('fails without last words when there are none', async () => {
    await expect(connect(shell('exit 1'), { priorEra: 'legacy' })).rejects.toThrow(
      /^Connecting failed: (?!.*last words)/,
    );
  });

  it('masks the secrets that are named instead of the variables', async () => {
    const lines: string[] = [];
    const target = shell('echo "one-secret-1 $KEY" >&2; exit 1', { KEY: 'canary-7f3a9c' });
    const more = { onLogLine: (line: string) => lines.push(line), secrets: ['one-secret-1'] };
    await expect(connect(target, { ...more, priorEra: 'legacy' })).rejects.toThrow();
    expect(lines).toEqual(['******** canary-7f3a9c']);
  });

  it.each(['HTTP', 'SSE'] as const)('refuses a URL that is not allowed, over %s', async (kind) => {
    const target = { kind, url: 'http://server.example/mcp', headers: {} };
    await expect(connect(target)).rejects.toThrow('Connecting failed: its URL is refused. ');
  });

  it.each([
    ['legacy', 400, ['initialize', 'server/discover', 'initialize']],
    ['legacy', 500, ['initialize']],
    ['modern', 400, ['server/discover', 'initialize']],
  ] as const)(
    'probes a server that refuses the era it had: %s, HTTP %s',
    async (priorEra, status, asked) => {
      const server = await RawServer.start((_request, socket) => {
        socket.write(httpAnswer(status, {}, 'no'));
      });
      const target = { kind: 'HTTP', url: `${server.origin}/mcp`, headers: {} } as const;
      await expect(connect(target, { priorEra })).rejects.toThrow('Connecting failed');
      const methods = server.requests.map(({ body }) => /"method":"([^"]+)"/.exec(body)?.[1]);
      expect(methods).toEqual(asked);
      await server.close();
    },
  );
});
