import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp } from '../support/app.js';
import { commandLine } from '../support/command-line.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { TestIssuer } from '../support/issuer.js';
import { fixture, httpPeer } from '../support/peers.js';

const ROOT = 'token-of-root-0123456789';
const ADA = 'token-of-ada-0123456789';
const text = readFileSync('docs/credentials.md', 'utf8');

/** The n-th block of that language under a heading. */
function block(heading: string, language: string, n = 0): string {
  const [, section = ''] = text.split(`## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))][n]?.[1] ?? '';
}

/** The arguments of a shell command with quotes and continued lines. */
function argumentsOf(command: string): string[] {
  const words =
    command
      .replaceAll('\\\n', ' ')
      .trim()
      .match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}

const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

describe('the recipes of docs/credentials.md', () => {
  it('a key of each person: register, read the refusal, give the key, call', async () => {
    const peer = await httpPeer('whose.mjs', ['http']);
    const service = await startApp({
      MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT},ada:call:${ADA}`,
    });
    try {
      const { run } = commandLine({ url: service.url, token: ROOT });
      const [program, ...given] = argumentsOf(block('A key of each person', 'sh'));
      expect(program).toBe('switchboard');
      const local = given.map((word) => (word.startsWith('https:') ? peer.url : word));
      const added = await run(...local);
      expect({ ...added }).toMatchObject({ code: 0 });
      const admin = new Api({ url: service.url, token: ROOT });
      const id = await eventually(async () => {
        const { body } = await admin.call('GET', '/servers');
        const [server] = body['servers'] as { id: string; status: string; tool_count: number }[];
        expect(server).toMatchObject({ status: 'CONNECTED', tool_count: 2 });
        return server?.id ?? '';
      });
      const ask = (method: string, path: string, body: string) =>
        send(service.url, path, { method, token: ADA, body });
      const call = () =>
        ask('POST', '/api/v1/tools/call', JSON.stringify({ name: 'github.whose', arguments: {} }));
      const refused = (await call()).body as { detail: string; context: { connect_url: string } };
      const shown = JSON.parse(block('A key of each person', 'json')) as typeof refused;
      const generic = ({ detail }: { detail: string }): string =>
        detail.replaceAll(/http:\S+/g, 'ADDRESS');
      expect(generic(refused)).toBe(generic(shown));
      expect(refused).toMatchObject({ error_code: 'CONNECTION_REQUIRED' });

      const curl = block('A key of each person', 'sh', 1);
      const [, path = ''] = /localhost:8081(\S+)\$SERVER_ID/.exec(curl) ?? [];
      const [, body = ''] = /-d '([^']*)'/.exec(curl) ?? [];
      const key = 'ghp_key-of-ada-93jf84';
      const answer = await ask('PUT', path + id, body.replace('ghp_…', key));
      expect(answer).toMatchObject({ status: 200, body: { status: 'connected' } });
      const { text: said } = await call();
      expect(said).toContain(digest(key));
    } finally {
      await service.close();
      await peer.stop();
    }
  });

  it('a program of each person: register, give the key, call', async () => {
    const service = await startApp({ MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT},ada:call:${ADA}` });
    try {
      const command = block('A key of each person', 'sh', 2);
      const [, ...given] = argumentsOf(command);
      // In the place of the program of the recipe: one that says which key it was started with.
      const program = ['sh', '-c', 'API_KEY=$JIRA_TOKEN exec "$0" "$@"', process.execPath];
      const ended = given.indexOf('--');
      expect(given.slice(ended + 1)).toEqual(['npx', '-y', 'jira-mcp']);
      const { run } = commandLine({ url: service.url, token: ROOT });
      const added = await run(
        ...given.slice(0, ended + 1),
        ...program,
        fixture('whose.mjs'),
        'stdio',
      );
      expect({ ...added }).toMatchObject({ code: 0 });
      const folder = await temporaryFolder();
      const key = 'jira-key-of-ada-93jf84';
      const file = join(folder.path, 'keys.json');
      writeFileSync(file, JSON.stringify({ JIRA_TOKEN: key }));
      const [, shown = ''] =
        /`switchboard (connections connect SERVER --keys FILE)`/.exec(text) ?? [];
      const ada = commandLine({ url: service.url, token: ADA });
      const words = shown.replace('SERVER', 'jira').replace('FILE', file).split(' ');
      await eventually(async () =>
        expect({ ...(await ada.run(...words)) }).toMatchObject({ code: 0 }),
      );
      await folder.remove();
      const body = JSON.stringify({ name: 'jira.whose', arguments: {} });
      await eventually(async () => {
        const called = await send(service.url, '/api/v1/tools/call', {
          method: 'POST',
          token: ADA,
          body,
        });
        expect({ ...called }).toMatchObject({
          status: 200,
          text: expect.stringContaining(digest(key)),
        });
      });
      const [, list = ''] = /`switchboard (connections)`/.exec(text) ?? [];
      expect((await ada.run(list)).stdout).toContain('jira');
      expect({ ...(await ada.run('connections', 'disconnect', 'jira')) }).toMatchObject({
        code: 0,
      });
      const refused = await send(service.url, '/api/v1/tools/call', {
        method: 'POST',
        token: ADA,
        body,
      });
      expect(refused).toMatchObject({ status: 409, body: { error_code: 'CONNECTION_REQUIRED' } });
    } finally {
      await service.close();
    }
  });

  it('a token for the JWT of each person: register from a file, call with a JWT', async () => {
    const [peer, issuer, folder] = [
      await httpPeer('whose.mjs', ['http']),
      await TestIssuer.start(),
      await temporaryFolder(),
    ];
    const endpoint = createServer((request, response) => {
      request.resume().on('end', () => {
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({
            access_token: 'token-for-the-server-93jf84',
            issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
            token_type: 'Bearer',
            expires_in: 300,
          }),
        );
      });
    });
    endpoint.listen(0, '127.0.0.1');
    await once(endpoint, 'listening');
    const service = await startApp({
      MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT}`,
      ...issuer.settings,
    });
    try {
      const { port } = endpoint.address() as AddressInfo;
      const config = block('A token for the JWT of each person', 'json')
        .replace('https://mcp.example.com/mcp', peer.url)
        .replace('https://id.example.com/token', `http://127.0.0.1:${port}/token`)
        .replace('${EXCHANGE_SECRET}', 'secret-of-the-client-93jf8');
      const file = join(folder.path, 'upstream.json');
      writeFileSync(file, config);
      const [, command = ''] = /`(switchboard servers add upstream [^`]*)`/.exec(text) ?? [];
      const [, ...given] = argumentsOf(command.replace('upstream.json', file));
      const { run } = commandLine({ url: service.url, token: ROOT });
      expect({ ...(await run(...given)) }).toMatchObject({ code: 0 });
      const token = await issuer.sign({ sub: 'ada' });
      await eventually(async () => {
        const { status, text: said } = await send(service.url, '/api/v1/tools/call', {
          method: 'POST',
          token,
          body: JSON.stringify({ name: 'upstream.whose', arguments: {} }),
        });
        expect({ status, said }).toEqual({
          status: 200,
          said: expect.stringContaining(digest('token-for-the-server-93jf84')),
        });
      });
    } finally {
      await service.close();
      endpoint.close();
      issuer.stop();
      await peer.stop();
      await folder.remove();
    }
  });
});
