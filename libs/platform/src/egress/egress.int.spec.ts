import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { EnvHttpProxyAgent, fetch, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { Egress, EgressRefused, type Resolve } from './egress.js';
import { type EgressPolicy, LOCAL_EGRESS, parseAllowance } from './egress-policy.js';

const METADATA = '169.254.169.254';

/** Resolves every name to the next of these lists, and to the last one from then on. */
function resolver(...answers: string[][]): Resolve & { asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, done) => {
    const found = answers[Math.min(asked.push(hostname), answers.length) - 1] ?? [];
    const familyOf = (address: string): number => (address.includes(':') ? 6 : 4);
    setImmediate(() =>
      done(
        null,
        found.map((address) => ({ address, family: familyOf(address) })),
      ),
    );
  };
  return Object.assign(resolve, { asked });
}

const publicOnly = (...entries: string[]): EgressPolicy => ({
  mode: 'public',
  allow: parseAllowance(entries) ?? LOCAL_EGRESS.allow,
});

describe(Egress.name, () => {
  let server: Server;
  let port: number;
  let seen: string[];
  let location: string | undefined;

  beforeAll(async () => {
    // Every address of the loopback network reaches this server.
    server = createServer((request, response) => {
      seen.push(`${request.socket.localAddress} ${request.headers.host}${request.url}`);
      if (location !== undefined) response.writeHead(307, { location });
      response.end('here');
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    seen = [];
    location = undefined;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Opens a new connection for each. */
  async function get(egress: Egress, url: string): Promise<string> {
    const dispatcher = await egress.agent();
    try {
      return await (await fetch(url, { dispatcher })).text();
    } finally {
      await dispatcher.destroy();
    }
  }
  const refusalOf = async (egress: Egress, url: string): Promise<unknown> => {
    const failure = await get(egress, url).then(
      () => undefined,
      (error: unknown) => error,
    );
    return failure instanceof Error ? failure.cause : failure;
  };

  it('connects to the addresses that it checked', async () => {
    const resolve = resolver(['127.0.0.2']);
    const egress = new Egress(LOCAL_EGRESS, resolve);
    expect(await get(egress, `http://some.example:${port}/a`)).toBe('here');
    expect(seen).toEqual([`127.0.0.2 some.example:${port}/a`]);
    expect(resolve.asked).toEqual(['some.example']);
  });

  it('checks a name at every connect', async () => {
    const egress = new Egress(LOCAL_EGRESS, resolver(['127.0.0.2'], [METADATA]));
    const url = `http://rebinding.example:${port}/`;
    expect(await get(egress, url)).toBe('here');
    const refusal = await refusalOf(egress, url);
    expect(refusal).toBeInstanceOf(EgressRefused);
    expect(refusal).toMatchObject({
      message: `rebinding.example has the address ${METADATA}, the metadata service of a cloud: refused unless MCP_AGGREGATOR_EGRESS_ALLOW names it`,
    });
    expect(seen).toHaveLength(1);
  });

  it('resolves a name once for the check and the connection', async () => {
    const resolve = resolver(['127.0.0.3'], [METADATA]);
    const egress = new Egress(LOCAL_EGRESS, resolve);
    expect(await get(egress, `http://once.example:${port}/`)).toBe('here');
    expect(resolve.asked).toHaveLength(1);
  });

  it.each([
    [['127.0.0.2', METADATA]],
    [[METADATA, '127.0.0.2']],
    [['127.0.0.2', '::ffff:127.0.0.1']],
    [['127.0.0.2', '64:ff9b::a9fe:a9fe']],
  ])('refuses a host whole that has a refused address: %j', async (addresses) => {
    const egress = new Egress(LOCAL_EGRESS, resolver(addresses));
    const refusal = await refusalOf(egress, `http://two.example:${port}/`);
    expect(refusal).toBeInstanceOf(EgressRefused);
    expect(seen).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost', '2130706433', '[::1]', '[::ffff:127.0.0.1]'])(
    'refuses %s in public mode, whatever way it is written',
    async (host) => {
      const egress = new Egress(publicOnly());
      expect(await refusalOf(egress, `http://${host}:${port}/`)).toBeInstanceOf(EgressRefused);
      expect(seen).toEqual([]);
    },
  );

  it('refuses a name of this machine in public mode, unless the setting has the name or the address', async () => {
    const names = resolver(['127.0.0.4']);
    const url = `http://box.example:${port}/`;
    expect(await refusalOf(new Egress(publicOnly(), names), url)).toMatchObject({
      message: expect.stringContaining('MCP_AGGREGATOR_EGRESS=public'),
    });
    expect(await get(new Egress(publicOnly('box.example'), names), url)).toBe('here');
    expect(await get(new Egress(publicOnly('127.0.0.0/8'), names), url)).toBe('here');
  });

  it('checks the target of a redirect', async () => {
    location = `http://${METADATA}/latest/meta-data/`;
    const egress = new Egress(LOCAL_EGRESS, resolver(['127.0.0.2']));
    const refusal = await refusalOf(egress, `http://moving.example:${port}/`);
    expect(refusal).toBeInstanceOf(EgressRefused);
  });

  it('ignores proxies of the environment', async () => {
    const before = getGlobalDispatcher();
    const proxy = `http://127.0.0.9:${port}`;
    const all = new EnvHttpProxyAgent({ httpProxy: proxy, httpsProxy: proxy });
    setGlobalDispatcher(all);
    try {
      const egress = new Egress(LOCAL_EGRESS, resolver([METADATA]));
      const url = `http://far.example:${port}/`;
      expect(await refusalOf(egress, url)).toBeInstanceOf(EgressRefused);
      expect(seen).toEqual([]);
    } finally {
      setGlobalDispatcher(before);
      await all.destroy();
    }
  });

  it('is the lookup of a plain socket too', async () => {
    const open = (egress: Egress): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ host: 'raw.example', port, lookup: egress.lookup });
        socket.on('connect', () => resolve(socket.remoteAddress ?? ''));
        socket.on('error', (error) => resolve(error.name));
        socket.on('connect', () => socket.destroy());
      });
    expect(await open(new Egress(LOCAL_EGRESS, resolver(['127.0.0.5'])))).toBe('127.0.0.5');
    expect(await open(new Egress(LOCAL_EGRESS, resolver(['fe80::1'])))).toBe('EgressRefused');
    expect(await open(new Egress(publicOnly(), resolver(['10.0.0.1'])))).toBe('EgressRefused');
  });

  it('gives the addresses of a host only when all of them may be connected to', async () => {
    const egress = new Egress(
      LOCAL_EGRESS,
      resolver(['127.0.0.1', '10.0.0.1'], ['10.0.0.1', '::']),
    );
    await expect(egress.addressesOf('a.example')).resolves.toHaveLength(2);
    await expect(egress.addressesOf('a.example')).rejects.toThrow(EgressRefused);
    await expect(egress.addressesOf('[fe80::1]')).rejects.toThrow(EgressRefused);
  });
});
