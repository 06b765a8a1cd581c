import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { IndexToolsOnCatalogueReplaced } from '../../libs/catalogue/src/refresh/index-tools.on-catalogue-replaced.js';
import { startApp, type TestApp } from '../support/app.js';
import { insertTools, ROWS_ONLY } from '../support/rows.js';

const found = z.object({
  structuredContent: z.object({ tools: z.array(z.object({ name: z.string() })) }),
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

  async function first(query: string): Promise<string | undefined> {
    const result = await client.callTool({ name: 'search_tools', arguments: { query } });
    return found.parse(result).structuredContent.tools[0]?.name;
  }

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
});
