import { Egress, LOCAL_EGRESS, type Resolve } from '@app/platform';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectUpstream } from './connect-upstream.js';
import type { ConnectOptions, UpstreamTarget } from '../upstream.js';

const METADATA = '169.254.169.254';

/** Resolves a name to `first` on the first lookup and to `then` on all later ones. */
const rebinding = (first: string, then: string): Resolve => {
  let asked = 0;
  return (_hostname, done) => {
    const address = asked++ === 0 ? first : then;
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
};

describe('egress policy for server connections', () => {
  let server: Server;
  let port: number;
  let requests: number;

  beforeAll(async () => {
    server = createServer((_request, response) => {
      requests++;
      response.writeHead(503, { connection: 'close' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    requests = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const connect = (kind: 'SSE' | 'HTTP', url: string, egress?: Egress): Promise<unknown> => {
    const target: UpstreamTarget = { kind, url, headers: {} };
    const options: ConnectOptions = {
      connectTimeoutMs: 60_000,
      maxAnswerBytes: 1_000_000,
      clientInfo: { name: 'switchboard-test', version: '0' },
      clientCapabilities: {},
      allowInsecureHttp: true,
      ...(egress && { egress }),
    };
    return connectUpstream(target, options);
  };

  it.each(['SSE', 'HTTP'] as const)('%s: refuses an address literal', async (kind) => {
    for (const host of [METADATA, '2852039166', '[::ffff:a9fe:a9fe]', '[fe80::1]', '0.0.0.0']) {
      await expect(connect(kind, `http://${host}:${port}/mcp`)).rejects.toThrow(
        'MCP_AGGREGATOR_EGRESS_ALLOW',
      );
    }
    expect(requests).toBe(0);
  });

  it.each(['SSE', 'HTTP'] as const)(
    '%s: refuses a name that resolves to a refused address, with the same message',
    async (kind) => {
      const egress = new Egress(LOCAL_EGRESS, rebinding(METADATA, METADATA));
      await expect(connect(kind, `http://inner.example:${port}/mcp`, egress)).rejects.toThrow(
        `inner.example has the address ${METADATA}, the metadata service of a cloud: refused unless MCP_AGGREGATOR_EGRESS_ALLOW names it`,
      );
    },
  );

  it.each(['SSE', 'HTTP'] as const)(
    '%s: refuses a name once it resolves to a refused address',
    async (kind) => {
      const egress = new Egress(LOCAL_EGRESS, rebinding('127.0.0.1', METADATA));
      const url = `http://rebinding.example:${port}/mcp`;
      await expect(connect(kind, url, egress)).rejects.toThrow();
      const before = requests;
      expect(before).toBeGreaterThan(0);
      await expect(connect(kind, url, egress)).rejects.toThrow('the metadata service of a cloud');
      expect(requests).toBe(before);
    },
  );

  it.each(['SSE', 'HTTP'] as const)('%s: refuses loopback in public mode', async (kind) => {
    const egress = new Egress({ ...LOCAL_EGRESS, mode: 'public' }, rebinding('127.0.0.1', '::1'));
    for (const host of ['127.0.0.1', 'localhost', 'box.example']) {
      await expect(connect(kind, `http://${host}:${port}/mcp`, egress)).rejects.toThrow(
        'MCP_AGGREGATOR_EGRESS=public',
      );
    }
    expect(requests).toBe(0);
  });
});
