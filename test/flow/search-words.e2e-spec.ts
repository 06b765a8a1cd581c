import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Catalogue } from '@app/catalogue';
import { Database } from '@app/platform';
import { z } from 'zod';
import { IndexToolsOnCatalogueReplaced } from '../../libs/catalogue/src/refresh/index-tools.on-catalogue-replaced.js';
import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { insertTools, ROWS_ONLY } from '../support/rows.js';

const found = z.object({
  structuredContent: z.object({
    tools: z.array(z.object({ name: z.string(), fit: z.number() })),
    no_good_match: z
      .object({
        message: z.string(),
        nearest: z.array(z.object({ name: z.string() })),
        connect: z.array(z.object({ server: z.string(), name: z.string() })),
      })
      .optional(),
  }),
});

const metadata = z.object({
  metadata: z.object({ no_good_match: z.object({ message: z.string() }).nullable() }),
});

const tools = {
  files: [
    ['create_directory', 'Create a new folder, or make sure that it exists'],
    ['read_file', 'Read the complete contents of a file'],
    ['move_file', 'Move or rename files and directories'],
  ],
  mail: [
    ['send_email', 'Send an email message to one or more recipients'],
    ['search_emails', 'Search the mailbox for messages'],
    ['delete_email', 'Delete a message'],
  ],
  forge: [
    ['create_pull_request', 'Create a new pull request'],
    ['create_pull_request_review', 'Create a review on a pull request'],
    ['create_branch', 'Create a new branch in a repository'],
  ],
  charts: [
    ['generate_pie_chart', 'Generate a pie chart to show parts of a whole'],
    ['generate_bar_chart', 'Generate a bar chart to compare categories'],
  ],
} as const;

describe('words that people use for tools', () => {
  let service: TestApp;
  let client: Client;

  beforeAll(async () => {
    service = await startApp(ROWS_ONLY);
    for (const [server, own] of Object.entries(tools)) {
      await insertTools(
        service.app,
        server,
        own.map(([name, description]) => ({ name, description })),
      );
    }
    await service.app.get(IndexToolsOnCatalogueReplaced, { strict: false }).request();
    client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp/search`), {
      requestInit: { headers: { authorization: `Bearer ${service.tokens.call}` } },
    });
    // The SDK's own types conflict with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
  });
  afterAll(async () => {
    await client.close();
    await service.close();
  });

  async function search(query: string, more: object = {}) {
    const result = await client.callTool({ name: 'search_tools', arguments: { query, ...more } });
    return found.parse(result).structuredContent;
  }

  const first = async (query: string) => (await search(query)).tools[0]?.name;

  it.each([
    ['German', 'E-Mail an einen Kunden senden', 'mail__send_email'],
    ['Spanish', 'crear una carpeta', 'files__create_directory'],
    ['French', 'envoyer un e-mail', 'mail__send_email'],
    ['Italian', 'creare una cartella', 'files__create_directory'],
    ['Portuguese', 'gerar um gráfico de barras', 'charts__generate_bar_chart'],
    ['Chinese', '发送邮件', 'mail__send_email'],
    ['Japanese', 'フォルダーを作成する', 'files__create_directory'],
  ])('in %s find it through search_tools', async (_, query, tool) => {
    expect(await first(query)).toBe(tool);
  });

  it.each([
    ['misspelt', 'sned an emial', 'mail__send_email'],
    ['written as one', 'piechart', 'charts__generate_pie_chart'],
    ['abbreviated', 'open a PR', 'forge__create_pull_request'],
    ['of a shell', 'mkdir', 'files__create_directory'],
  ])('that are %s find it too', async (_, query, tool) => {
    expect(await first(query)).toBe(tool);
  });

  it.each(['create_pull_request', 'createPullRequest', 'forge__create_pull_request'])(
    'that are its exact name (%s) find it first, before names that begin like it',
    async (name) => {
      expect(await first(name)).toBe('forge__create_pull_request');
    },
  );

  it('that no tool serves are told apart, with the nearest tools', async () => {
    const { tools: nearest, no_good_match: none } = await search('turn off the living room lights');
    expect(none?.message).toContain('no connected tool does this');
    expect(none?.nearest.map(({ name }) => name)).toContain(nearest[0]?.name);
    expect(none?.connect).toEqual([]);
    expect(await search('send an email')).not.toHaveProperty('no_good_match');
  });

  it('that a tool serves are not told apart because the answer has none or few of the tools', async () => {
    const asked = async (body: object) => {
      const sent = JSON.stringify({ query: 'send an email', ...body });
      const answer = await send(service.url, '/api/v1/search', {
        method: 'POST',
        token: service.tokens.call,
        body: sent,
      });
      return metadata.parse(answer.body).metadata.no_good_match;
    };
    for (const body of [{ tool_threshold: 1 }, { limit: 1 }, { fit_threshold: 1 }]) {
      expect(await asked(body)).toBeNull();
    }
    const filtered = await asked({ server_filter: ['files'] });
    expect(filtered?.message).toContain('Search without the filter: mail has a tool that fits');
  });

  it('that only a disconnected server serves name that server', async () => {
    const lights = [{ name: 'turn_off_lights', description: 'Turn off the lights of a room' }];
    const [id] = await insertTools(service.app, 'home', lights);
    const { direct } = service.app.get(Database, { strict: false });
    await direct.query(
      `UPDATE mcp.external_servers SET status = 'DISCONNECTED' WHERE name = 'home'`,
    );
    await service.app.get(Catalogue, { strict: false }).reload();
    const { no_good_match: none } = await search('turn off the living room lights');
    expect(none?.connect).toMatchObject([{ server: 'home', name: 'home__turn_off_lights' }]);
    expect(none?.message).toContain('Connect home');
    expect(id).toBeGreaterThan(0);
  });

  it('leave out tools below the fit that is asked for', async () => {
    const { tools: fitting } = await search('send an email', { min_fit: 0.2 });
    expect(fitting[0]?.name).toBe('mail__send_email');
    expect(fitting.every(({ fit }) => fit >= 0.2)).toBe(true);
    expect((await search('asdf qwer zxcv', { min_fit: 0.2 })).tools).toEqual([]);
  });
});
