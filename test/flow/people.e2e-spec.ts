import { type Query, QueryBus } from '@nestjs/cqrs';
import { GetPersonalTemplate } from '@app/registry';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

/** PEOPLE_CALLS=10000 is the whole of it. */
const CALLS = Number(process.env['PEOPLE_CALLS'] ?? 300);
const ROUNDS = 3;

const people = ['ada', 'bob'] as const;
type Name = (typeof people)[number];
const tokenOf = (name: Name): string => `token-of-${name}-0123456789`;
const keyOf = (name: Name, server: string): string => `key-of-${name}-for-${server}-4fjw83`;
const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

interface Said {
  readonly whose: string;
  readonly session: string;
  readonly calls: number;
  readonly echo: string;
  readonly folder: string;
  readonly home: readonly string[];
}

describe.each(['PostgreSQL', 'PGlite'])(
  'two people, with credentials of their own, on %s',
  (kind) => {
    let peer: HttpPeer;
    let service: TestApp;
    let admin: Api;
    let database: string;
    const ids: Record<string, string> = {};

    const start = async (): Promise<void> => {
      const tokens = people.map((name) => `${name}:call:${tokenOf(name)}`);
      service = await startApp({
        DATABASE_URL: database,
        MCP_AGGREGATOR_TOKENS: ['root:admin:token-of-root-0123456789', ...tokens].join(),
      });
      admin = new Api({ url: service.url, token: 'token-of-root-0123456789' });
    };
    const ask = (name: Name, method: string, path: string, body?: object) =>
      send(service.url, path, {
        method,
        token: tokenOf(name),
        ...(body && { body: JSON.stringify(body) }),
      });
    const call = (name: Name, server: string, echo = 'x') =>
      ask(name, 'POST', '/api/v1/tools/call', { name: `${server}.whose`, arguments: { echo } });
    const said = async (name: Name, server: string, echo = 'x'): Promise<Said> => {
      const { status, body, text } = await call(name, server, echo);
      if (status !== 200) throw new Error(`${name} at ${server}: ${text}`);
      const { content } = body as { content: [{ text: string }] };
      return JSON.parse(content[0].text) as Said;
    };
    const connect = (name: Name, server: string, key = keyOf(name, server)) =>
      ask(name, 'PUT', `/api/v1/me/connections/${ids[server]}`, { values: { API_KEY: key } });
    const isListed = (server: string): Promise<void> =>
      eventually(async () => {
        const { body } = await admin.call('GET', `/servers/${ids[server]}`);
        expect(body).toMatchObject({ status: 'CONNECTED', tool_count: 2 });
      });

    beforeAll(async () => {
      peer = await httpPeer('whose.mjs', ['http']);
      database = kind === 'PGlite' ? '' : await createDatabase();
      await start();
      ids['remote'] = await admin.register({
        name: 'remote',
        transport_type: 'HTTP',
        credentials: 'per_user',
        connection_config: {
          base_url: peer.url,
          headers: { 'x-api-key': '${user.API_KEY:-shared-key-8fj3}' },
        },
      });
      ids['local'] = await admin.register({
        name: 'local',
        transport_type: 'STDIO',
        credentials: 'per_user',
        connection_config: {
          command: process.execPath,
          args: [fixture('whose.mjs'), 'stdio'],
          env: { API_KEY: '${user.API_KEY:-shared-key-8fj3}' },
        },
      });
      await isListed('remote');
      await isListed('local');
    });
    afterAll(async () => {
      await service.close();
      await peer.stop();
    });

    it('are refused before they connect, with an address, and never served by the shared credential', async () => {
      for (const server of ['remote', 'local']) {
        const { status, body } = await call('ada', server);
        expect({ status, body }).toMatchObject({
          status: 409,
          body: {
            error_code: 'CONNECTION_REQUIRED',
            context: {
              outcome: 'not executed',
              connect_url: expect.stringContaining(`${service.url}/connect/${server}/`),
            },
          },
        });
      }
    });

    it('connect with what the server names, and nothing else', async () => {
      const refused = (values: object) =>
        ask('ada', 'PUT', `/api/v1/me/connections/${ids['local']}`, { values });
      for (const values of [
        {},
        { API_KEY: '' },
        { API_KEY: 'a\nb' },
        { API_KEY: 'x', PATH: '/x' },
      ]) {
        expect((await refused(values)).status).toBe(422);
      }
      for (const server of ['remote', 'local']) {
        for (const name of people) expect((await connect(name, server)).status).toBe(200);
        expect((await said('ada', server)).whose).toBe(digest(keyOf('ada', server)));
        expect((await said('bob', server)).whose).toBe(digest(keyOf('bob', server)));
      }
      const { body } = await ask('bob', 'GET', '/api/v1/me/connections');
      expect(body).toMatchObject({
        connections: [
          { server_name: 'local', status: 'connected', fields: ['API_KEY'], uses_oauth: false },
          { server_name: 'remote', status: 'connected', fields: ['API_KEY'], uses_oauth: false },
        ],
      });
    });

    it(`${CALLS} interleaved calls, with restarts between, meet no credential, session or answer of the other`, async () => {
      const owners = new Map<string, string>();
      let made = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const due = Math.ceil((CALLS * (round + 1)) / ROUNDS) - made;
        const lanes = Array.from({ length: 8 }, async (_, lane) => {
          for (let n = lane; n < due; n += 8) {
            const name = people[(n * 7 + lane) % 2] ?? 'ada';
            const server = n % 3 === 0 ? 'local' : 'remote';
            const echo = `${round}-${n}-${name}`;
            const answer = await said(name, server, echo);
            expect(answer).toMatchObject({ whose: digest(keyOf(name, server)), echo });
            const owner = owners.get(answer.session) ?? name;
            owners.set(answer.session, owner);
            expect(owner).toBe(name);
          }
        });
        await Promise.all(lanes);
        made += due;
        if (database === '') {
          // The embedded database ends with its service.
          for (const server of ['remote', 'local']) {
            await admin.call('POST', `/servers/${ids[server]}/disconnect`);
            await admin.call('POST', `/servers/${ids[server]}/connect?wait_seconds=30`);
          }
        } else {
          await service.close();
          await start();
        }
        await isListed('remote');
        await isListed('local');
      }
      expect(made).toBe(CALLS);
    });

    it('use processes, folders and homes of their own', async () => {
      const [ada, bob] = await Promise.all([said('ada', 'local'), said('bob', 'local')]);
      expect(ada.session).not.toBe(bob.session);
      expect(ada.folder).not.toBe(bob.folder);
      for (const { folder, home } of [ada, bob]) {
        expect(home).toEqual([folder, join(folder, '.config')]);
      }
      // Nor below that of the shared process, which would find them.
      expect(ada.folder).not.toContain(join('servers', ids['local'] ?? ''));
    });

    it('are asked again when the server refuses what they gave, which is not tried twice', async () => {
      expect((await connect('ada', 'remote', 'refused-key-93jf')).status).toBe(200);
      const { status, body } = await call('ada', 'remote');
      expect({ status, body }).toMatchObject({
        status: 409,
        body: { error_code: 'CONNECTION_REQUIRED' },
      });
      expect((await call('ada', 'remote')).status).toBe(409);
      expect((await said('bob', 'remote')).whose).toBe(digest(keyOf('bob', 'remote')));
      expect((await connect('ada', 'remote')).status).toBe(200);
      expect((await said('ada', 'remote')).whose).toBe(digest(keyOf('ada', 'remote')));
    });

    it('start again after their process has ended, without the other noticing', async () => {
      const before = await said('bob', 'local');
      await ask('ada', 'POST', '/api/v1/tools/call', { name: 'local.stop', arguments: {} });
      await eventually(async () =>
        expect((await said('ada', 'local')).whose).toBe(digest(keyOf('ada', 'local'))),
      );
      expect((await said('bob', 'local')).session).toBe(before.session);
    });

    it('disconnect at once, and for themselves alone', async () => {
      const { folder } = await said('ada', 'local');
      expect(existsSync(folder)).toBe(true);
      expect((await ask('ada', 'DELETE', `/api/v1/me/connections/${ids['local']}`)).status).toBe(
        204,
      );
      expect((await call('ada', 'local')).status).toBe(409);
      expect((await said('bob', 'local')).whose).toBe(digest(keyOf('bob', 'local')));
      expect((await ask('ada', 'DELETE', `/api/v1/me/connections/${ids['local']}`)).status).toBe(
        404,
      );
      // What the program kept of the credentials goes with them.
      await eventually(async () => expect(existsSync(folder)).toBe(false));
      await connect('ada', 'local');
    });

    it('are listed for admins without their credentials, and ended one by one', async () => {
      const path = `/servers/${ids['local']}/connections`;
      const { body } = await admin.call('GET', path);
      const listed = body['connections'] as { id: string; person: string; subject: string }[];
      expect(listed.map(({ person, subject }) => [person, subject])).toEqual([
        ['ada', 'token:ada'],
        ['bob', 'token:bob'],
      ]);
      expect(JSON.stringify(body)).not.toContain('key-of-');
      expect((await ask('ada', 'GET', `/api/v1/aggregator${path}`)).status).toBe(403);
      expect((await admin.call('POST', `${path}/${listed[1]?.id}/expire`)).status).toBe(204);
      expect((await call('bob', 'local')).status).toBe(409);
      expect((await said('ada', 'local')).whose).toBe(digest(keyOf('ada', 'local')));
      await connect('bob', 'local');
    });

    it('have to give their credentials again when the server moves to another host', async () => {
      const other = await httpPeer('whose.mjs', ['http']);
      try {
        const headers = { 'x-api-key': '${user.API_KEY}' };
        const move = (base_url: string) =>
          admin.call('PATCH', `/servers/${ids['remote']}`, {
            connection_config: { base_url, headers },
          });
        expect((await move(other.url)).status).toBe(200);
        await eventually(async () =>
          expect(await call('ada', 'remote')).toMatchObject({
            status: 409,
            body: { detail: expect.stringContaining('moved to another place') },
          }),
        );
        await move(peer.url);
        await eventually(async () =>
          expect((await said('ada', 'remote')).whose).toBe(digest(keyOf('ada', 'remote'))),
        );
      } finally {
        await other.stop();
      }
    });

    it('give nothing to another host when the server moves while they connect', async () => {
      const other = await httpPeer('whose.mjs', ['http']);
      const queries = service.app.get(QueryBus);
      const execute = queries.execute.bind(queries);
      const headers = { 'x-api-key': '${user.API_KEY}' };
      const move = (base_url: string) =>
        admin.call('PATCH', `/servers/${ids['remote']}`, {
          connection_config: { base_url, headers },
        });
      try {
        let hasMoved = false;
        // Between the moment that the request has read where the server is and the one that it stores what was given.
        queries.execute = async <T>(query: Query<T>): Promise<T> => {
          const found = await execute(query);
          if (query instanceof GetPersonalTemplate && !hasMoved) {
            hasMoved = true;
            expect((await move(other.url)).status).toBe(200);
          }
          return found;
        };
        expect((await connect('bob', 'remote', 'given-while-it-moved-4fjw83')).status).toBe(200);
        queries.execute = execute;
        expect(hasMoved).toBe(true);
        await eventually(async () =>
          expect(await call('bob', 'remote')).toMatchObject({
            status: 409,
            body: { detail: expect.stringContaining('moved to another place') },
          }),
        );
        await move(peer.url);
        const own = digest('given-while-it-moved-4fjw83');
        await eventually(async () => expect((await said('bob', 'remote')).whose).toBe(own));
        expect((await connect('bob', 'remote')).status).toBe(200);
        await eventually(async () =>
          expect((await said('bob', 'remote')).whose).toBe(digest(keyOf('bob', 'remote'))),
        );
      } finally {
        queries.execute = execute;
        await other.stop();
      }
    });

    it('connect what their view offers, and end what they gave when it no longer does', async () => {
      const { rules } = (await admin.call('GET', '/views/default')).body;
      const narrowed = await admin.call('PUT', '/views/default', { rules: [{ server: 'local' }] });
      expect(narrowed.status).toBe(200);
      try {
        await eventually(async () =>
          expect((await ask('ada', 'GET', '/api/v1/aggregator/servers')).status).toBe(403),
        );
        const link = (server: string) =>
          ask('ada', 'POST', `/api/v1/me/connections/${ids[server]}/link`);
        const { status, body } = await link('local');
        expect({ status, body }).toMatchObject({
          status: 200,
          body: { url: expect.stringContaining('/connect/local/') },
        });
        const { url } = body as { url: string };
        const page = url.slice(service.url.length);
        expect((await ask('ada', 'GET', `${page}/state`)).status).toBe(200);
        expect((await connect('ada', 'local')).status).toBe(200);
        expect((await link('remote')).status).toBe(404);
        expect((await connect('ada', 'remote')).status).toBe(404);
        const end = () => ask('ada', 'DELETE', `/api/v1/me/connections/${ids['remote']}`);
        expect((await end()).status).toBe(204);
        const listed = await ask('ada', 'GET', '/api/v1/me/connections');
        expect(listed.body).toMatchObject({ connections: [{ server_name: 'local' }] });
      } finally {
        await admin.call('PUT', '/views/default', { rules });
      }
      await eventually(async () => expect((await connect('ada', 'remote')).status).toBe(200));
    });

    it('leave nothing behind when their token is revoked, which is audited', async () => {
      const issued = await admin.call('POST', '/tokens', { name: 'eve', scopes: ['call'] });
      const { id, token } = issued.body as { id: string; token: string };
      const path = `/api/v1/me/connections/${ids['local']}`;
      const body = JSON.stringify({ values: { API_KEY: keyOf('ada', 'eve') } });
      const given = await send(service.url, path, { method: 'PUT', token, body });
      expect(given.status).toBe(200);
      expect((await admin.call('DELETE', `/tokens/${id}`)).status).toBe(204);
      await eventually(async () => {
        const rows = (await admin.call('GET', `/servers/${ids['local']}/connections`)).body;
        expect(JSON.stringify(rows)).not.toContain(`issued:${id}`);
        const { body: log } = await admin.call('GET', '/audit?event=connection.ended');
        expect(JSON.stringify(log)).toContain(`issued:${id}`);
      });
    });

    it('leave nothing behind when the server is removed', async () => {
      expect((await admin.call('DELETE', `/servers/${ids['remote']}`)).status).toBe(204);
      const { body } = await ask('ada', 'GET', '/api/v1/me/connections');
      expect(body).toMatchObject({ connections: [{ server_name: 'local' }] });
    });
  },
);
