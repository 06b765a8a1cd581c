import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { readEvents } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { TestIssuer } from '../support/issuer.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const ROOT = 'token-of-root-0123456789';
/** Configured at one replica alone, as while the settings of replicas are changed one after another. */
const CONFIGURED = 'token-of-the-configured-ada-0123456789';

describe('two people of one name, at replicas with other settings', () => {
  let here: TestApp;
  let there: TestApp;
  let peer: HttpPeer;
  let serverId: string;
  let issued: { readonly id: string; readonly token: string };
  let admin: Api;

  beforeAll(async () => {
    peer = await httpPeer('large-results.mjs', ['http']);
    const common = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_RESULT_BUDGET_TOKENS: '1000',
    };
    const root = `root:admin:${ROOT}`;
    here = await startApp({
      ...common,
      MCP_AGGREGATOR_TOKENS: `${root},ada:call:${CONFIGURED}`,
    });
    there = await startApp({ ...common, MCP_AGGREGATOR_TOKENS: root });
    admin = new Api({ url: there.url, token: ROOT });
    serverId = await admin.register({
      name: 'large',
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    const { status, body } = await admin.call('POST', '/tokens', { name: 'ada', scopes: ['call'] });
    expect(status).toBe(201);
    issued = body as typeof issued;
    await eventually(async () => {
      const path = `/api/v1/aggregator/servers/${serverId}`;
      expect((await send(here.url, path, { token: ROOT })).body).toMatchObject({
        status: 'CONNECTED',
        tool_count: 7,
      });
    });
  });
  afterAll(async () => {
    await there.close();
    await here.close();
    await peer.stop();
  });

  const callText = async (service: TestApp, token: string): Promise<string> => {
    const body = JSON.stringify({ name: 'large.text', arguments: {} });
    let text = '';
    await eventually(async () => {
      const answer = await send(service.url, '/api/v1/tools/call', { method: 'POST', token, body });
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
      ({ text } = answer);
    });
    return text;
  };
  const keptIn = (text: string): string => {
    const [, id] = /results\/([\da-f-]{36})/.exec(text) ?? [];
    if (id === undefined) throw new Error(`no kept result in ${text.slice(0, 500)}`);
    return `/api/v1/aggregator/results/${id}`;
  };
  const read = async (service: TestApp, path: string, token: string): Promise<number> =>
    (await send(service.url, path, { token })).status;

  it('read no kept results of each other', async () => {
    const ofConfigured = keptIn(await callText(here, CONFIGURED));
    const ofIssued = keptIn(await callText(there, issued.token));
    expect(await read(here, ofConfigured, CONFIGURED)).toBe(200);
    expect(await read(there, ofIssued, issued.token)).toBe(200);
    expect(await read(there, ofConfigured, issued.token)).toBe(404);
    expect(await read(here, ofIssued, CONFIGURED)).toBe(404);
  });

  it('use no session of each other, whichever replica is asked', async () => {
    const post = (service: TestApp, token: string, method: string, headers = {}) =>
      send(service.url, '/mcp', {
        method: 'POST',
        token,
        headers: { accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params:
            method === 'initialize'
              ? {
                  protocolVersion: '2025-06-18',
                  capabilities: {},
                  clientInfo: { name: 'test', version: '1' },
                }
              : {},
        }),
      });
    const opened = await post(here, CONFIGURED, 'initialize');
    const session = { 'mcp-session-id': opened.headers['mcp-session-id'] ?? '' };
    expect((await post(there, issued.token, 'ping', session)).status).toBe(404);
    expect((await post(here, CONFIGURED, 'ping', session)).status).toBe(200);
  });

  it('are told apart in the audit log', async () => {
    await callText(here, CONFIGURED);
    await callText(there, issued.token);
    await eventually(async () => {
      const { body } = await admin.call('GET', '/audit?event=tool.called&actor=ada');
      const { entries } = body as { entries: { actor_subject: string }[] };
      const subjects = new Set(entries.map(({ actor_subject: subject }) => subject));
      expect([...subjects].toSorted()).toEqual([`issued:${issued.id}`, 'token:ada']);
    });
  });

  it('keep what they have when the token of the other is revoked', async () => {
    const ofConfigured = keptIn(await callText(here, CONFIGURED));
    const ofIssued = keptIn(await callText(there, issued.token));
    expect((await admin.call('DELETE', `/tokens/${issued.id}`)).status).toBe(204);
    await eventually(async () => expect(await read(there, ofIssued, issued.token)).toBe(401));
    expect(await read(here, ofConfigured, CONFIGURED)).toBe(200);
  });
});

describe('two people whom two issuers name alike, while the issuer is changed', () => {
  let before: TestApp;
  let after: TestApp;
  let issuers: readonly TestIssuer[];
  const tokens: string[] = [];

  beforeAll(async () => {
    issuers = [
      await TestIssuer.start('https://id.example.com/realms/old'),
      await TestIssuer.start('https://id.example.com/realms/old%20er'),
    ];
    const common = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT}`,
    };
    before = await startApp({ ...common, ...issuers[0]?.settings });
    after = await startApp({ ...common, ...issuers[1]?.settings });
    for (const issuer of issuers) {
      tokens.push(await issuer.sign({ sub: 'ada', groups: ['crew'], scope: 'call' }));
    }
    const admin = new Api({ url: before.url, token: ROOT });
    const made = await admin.call('POST', '/views', { slug: 'support', rules: [] });
    expect(made.status).toBe(201);
  });
  afterAll(async () => {
    await after?.close();
    await before?.close();
    for (const issuer of issuers) issuer.stop();
  });

  const give = (service: TestApp, subject_kind: string, subject: string) =>
    new Api({ url: service.url, token: ROOT }).call('POST', '/grants', {
      subject_kind,
      subject,
      view: 'support',
      level: 'read',
    });
  const ping = async (service: TestApp, token = ''): Promise<number> => {
    const headers = { accept: 'application/json, text/event-stream' };
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    return (await send(service.url, '/mcp/views/support', { method: 'POST', token, headers, body }))
      .status;
  };
  const grantsAt = async (service: TestApp) => {
    const { body } = await new Api({ url: service.url, token: ROOT }).call(
      'GET',
      '/grants?view=support',
    );
    return (body as { grants: { id: string; subject: string; issuer: string }[] }).grants;
  };

  it.each([
    ['user', 'ada'],
    ['group', 'crew'],
  ])('gives a grant of a %s to the one of the issuer where it was given', async (kind, subject) => {
    expect((await give(before, kind, subject)).body).toMatchObject({ issuer: issuers[0]?.name });
    await eventually(async () =>
      expect(await grantsAt(after)).toMatchObject([{ subject, issuer: issuers[0]?.name }]),
    );
    expect([await ping(before, tokens[0]), await ping(after, tokens[1])]).toEqual([200, 404]);
    expect((await give(after, kind, subject)).body).toMatchObject({ issuer: issuers[1]?.name });
    await eventually(async () =>
      expect(await grantsAt(before)).toMatchObject([{ subject, issuer: issuers[1]?.name }]),
    );
    expect([await ping(before, tokens[0]), await ping(after, tokens[1])]).toEqual([404, 200]);
    const [grant] = await grantsAt(after);
    const admin = new Api({ url: after.url, token: ROOT });
    expect((await admin.call('DELETE', `/grants/${grant?.id}`)).status).toBe(204);
    await eventually(async () => expect(await grantsAt(before)).toEqual([]));
  });

  it('tells listeners of the audit log whose change it was', async () => {
    const events = await readEvents({ url: before.url, token: ROOT }, '?topics=audit');
    try {
      expect((await give(before, 'token', 'ci')).body).toMatchObject({ issuer: null });
      await eventually(async () =>
        expect(events.of('audit').map(({ data }) => data)).toContainEqual(
          expect.objectContaining({
            event: 'grant.given',
            actor: 'root',
            actor_subject: 'token:root',
          }),
        ),
      );
    } finally {
      events.close();
    }
  });
});
