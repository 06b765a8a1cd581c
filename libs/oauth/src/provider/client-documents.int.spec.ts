import { Clock } from '@app/platform';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../../test/support/tls.js';
import { ClientDocuments } from './client-documents.js';

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
    documents.trust('localhost', TEST_CERTIFICATE);
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
});
