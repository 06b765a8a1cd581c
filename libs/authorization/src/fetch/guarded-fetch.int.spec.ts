import { Egress } from '@app/platform';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GuardedFetch, UrlRefused } from './guarded-fetch.js';

describe(GuardedFetch.name, () => {
  let server: Server;
  let origin: string;
  let answer: RequestListener;

  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const guarded = (trusted = origin, signal = new AbortController().signal): GuardedFetch =>
    new GuardedFetch({
      trusted: [new URL(trusted)],
      allowInsecureHttp: false,
      egress: new Egress(),
      signal,
      redact: (text) => text.replaceAll('the-secret', '********'),
    });

  it('sends the request unchanged', async () => {
    answer = (request, response) => {
      request.resume();
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ method: request.method, type: request.headers['content-type'] }),
      );
    };
    const response = await guarded().fetch(`${origin}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'refresh_token' }),
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({
      method: 'POST',
      type: 'application/x-www-form-urlencoded',
    });
  });

  it.each([
    ['http://id.example.com/', 'https:'],
    ['ftp://127.0.0.1/', 'https:'],
    ['https://169.254.169.254/', /must not send us to: .*MCP_AGGREGATOR_EGRESS_ALLOW/],
    ['https://[fe80::1]/', 'must not send us to'],
  ])('refuses %s', async (address, reason) => {
    const refused = guarded().fetch(address);
    await expect(refused).rejects.toThrow(UrlRefused);
    await expect(refused).rejects.toThrow(reason);
  });

  it('refuses addresses near the service that a remote server names', async () => {
    const far = guarded('https://1.1.1.1/mcp');
    for (const near of ['https://127.0.0.1/', 'https://10.0.0.1/', 'https://localhost/']) {
      await expect(far.fetch(near)).rejects.toThrow('must not send us to');
    }
    expect(far.failure).toBeUndefined();
  });

  it('reads an answer up to a limit', async () => {
    answer = (_request, response) => response.end('x'.repeat(300_000));
    await expect(guarded().fetch(origin)).rejects.toThrow('more than 262144 bytes');
  });

  it('does not follow a redirect', async () => {
    answer = (_request, response) => response.writeHead(302, { location: 'http://10.0.0.1' }).end();
    expect((await guarded().fetch(origin)).status).toBe(302);
  });

  it.each([
    ['{"error":"invalid_grant","error_description":"not the-secret","extra":"the-secret"}', 400],
    ['{"error":"invalid_grant","error_description":"not the-secret"}', 200],
  ])('keeps of a refusal only what OAuth says, without secrets: %s', async (body, status) => {
    answer = (_request, response) => response.writeHead(status).end(body);
    const response = await guarded().fetch(origin, { method: 'POST', body: '' });
    expect(await response.json()).toEqual({
      error: 'invalid_grant',
      error_description: 'not ********',
    });
  });

  it('turns any other refusal into an OAuth error', async () => {
    answer = (_request, response) => response.writeHead(500).end('<h1>the-secret</h1>');
    const response = await guarded().fetch(origin, { method: 'POST', body: '' });
    expect(await response.text()).toBe('{"error":"server_error"}');
  });

  it('distinguishes a network failure from its own refusal', async () => {
    answer = (request) => request.socket.destroy();
    const fetching = guarded();
    await expect(fetching.fetch(origin)).rejects.toThrow('cannot be reached');
    expect(fetching.failure).toBeDefined();
    answer = (_request, response) => response.end('{}');
    await fetching.fetch(origin);
    expect(fetching.failure).toBeUndefined();
  });

  it('aborts with the turn it belongs to', async () => {
    const turn = new AbortController();
    answer = () => turn.abort();
    await expect(guarded(origin, turn.signal).fetch(origin)).rejects.toThrow('cannot be reached');
  });
});
