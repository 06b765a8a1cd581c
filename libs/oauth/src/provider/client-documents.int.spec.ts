import { Clock } from '@app/platform';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../../test/support/tls.js';
import { ClientDocuments } from './client-documents.js';

/** Of machines that are ten times slower. */
const PATIENCE_MS = 60_000;

describe(ClientDocuments.name, () => {
  let server: Server;
  let origin: string;
  let waiting: ServerResponse[];

  beforeEach(async () => {
    waiting = [];
    server = createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (_request, response) => {
      waiting.push(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const answer = (response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ redirect_uris: ['https://claude.ai/callback'] }));
  };

  it('fetches eight documents at once, and refuses others at once', async () => {
    const documents = new ClientDocuments(new Clock());
    documents.trust('localhost', TEST_CERTIFICATE, PATIENCE_MS);
    const running = Array.from({ length: 8 }, (_, n) => documents.fetch(`${origin}/${n}`));
    await expect(documents.fetch(`${origin}/ninth`)).rejects.toThrow('too many documents');
    await eventually(async () => expect(waiting).toHaveLength(8));
    for (const response of waiting) answer(response);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(
      running.map(() => 200),
    );
    const next = documents.fetch(`${origin}/next`);
    await eventually(async () => expect(waiting).toHaveLength(9));
    for (const response of waiting.slice(8)) answer(response);
    expect((await next).status).toBe(200);
  });

  it('fetches sixty for one address in a minute, and none fewer for others', async () => {
    const clock = new FakeClock();
    const documents = new ClientDocuments(clock);
    documents.trust('localhost', TEST_CERTIFICATE, PATIENCE_MS);
    const allowed = (address: string): number =>
      Array.from({ length: 100 }, () => documents.mayFetch(`${origin}/one`, address)).filter(
        Boolean,
      ).length;
    expect([allowed('192.0.2.1'), allowed('192.0.2.1'), allowed('192.0.2.2')]).toEqual([60, 0, 60]);
    await clock.advance(60_000);
    expect(allowed('192.0.2.1')).toBe(60);
  });

  it('names no address in a private network, and fetches none that has just failed', async () => {
    const documents = new ClientDocuments(new Clock());
    const others = [
      'https://169.254.169.254/x',
      'https://10.0.0.1/x',
      'https://[::1]/x',
      'nonsense',
    ];
    for (const address of others) expect(documents.mayFetch(address, '192.0.2.1')).toBe(false);
    documents.trust('localhost', TEST_CERTIFICATE, PATIENCE_MS);
    const fetched = documents.fetch(`${origin}/refused`);
    await eventually(async () => expect(waiting).toHaveLength(1));
    for (const response of waiting) response.writeHead(404).end();
    await expect(fetched).rejects.toThrow('404');
    expect(documents.mayFetch(`${origin}/refused`, '192.0.2.1')).toBe(false);
    expect(documents.mayFetch(`${origin}/other`, '192.0.2.1')).toBe(true);
  });
});
