import { Catalogue } from '@app/catalogue';
import { Database } from '@app/platform';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { insertTools, ROWS_ONLY } from '../support/rows.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly description: string;
  readonly tokens: number;
  readonly status: string;
  readonly annotations: readonly string[];
}

describe('tables of tools and servers', () => {
  let service: TestApp;
  let api: Api;
  const rows = async (query: string, token = service.token): Promise<readonly Row[]> => {
    const { status, body } = await new Api({ url: service.url, token }).call(
      'GET',
      `/tools/rows?${query}`,
    );
    expect(status).toBe(200);
    return body['tools'] as Row[];
  };
  const names = async (query: string): Promise<string[]> =>
    (await rows(query)).map(({ name }) => name);
  const change = async (sql: string): Promise<void> => {
    await service.app.get(Database, { strict: false }).direct.query(sql);
    await service.app.get(Catalogue, { strict: false }).reload();
  };

  beforeAll(async () => {
    service = await startApp(ROWS_ONLY);
    api = new Api(service);
    await insertTools(service.app, 'beta', [
      { name: 'read_file', description: 'Reads a file\nand more lines' },
      { name: 'write_file', description: `Writes a file. ${'Long text. '.repeat(100)}` },
    ]);
    await insertTools(service.app, 'alpha', [{ name: 'zip', description: 'Packs FILES' }]);
    await change(
      `UPDATE mcp.tools SET content_hash = 'another', definition = '{"name":"read_file","description":"Reads a file\\nand more lines","annotations":{"readOnlyHint":true,"openWorldHint":false}}'
       WHERE original_name = 'read_file'`,
    );
  });
  afterAll(() => service.close());

  it('show the first line, the annotations, the cost and the status', async () => {
    const shown = await rows('server=beta');
    expect(shown[0]).toMatchObject({
      name: 'beta.read_file',
      server: 'beta',
      title: null,
      description: 'Reads a file',
      annotations: ['read_only', 'idempotent'],
      status: 'ready',
      tokens: expect.any(Number) as number,
    });
    expect(shown[1]?.description.length).toBeLessThanOrEqual(160);
    expect(shown[1]?.annotations).toEqual(['destructive', 'open_world']);
  });

  it('are filtered by text, annotation and status', async () => {
    expect(await names('text=files')).toEqual(['alpha.zip']);
    expect(await names('text=READ_')).toEqual(['beta.read_file']);
    expect(await names('annotation=read_only')).toEqual(['beta.read_file']);
    await change(`UPDATE mcp.external_servers SET status = 'ERROR' WHERE name = 'alpha'`);
    await service.app.get(Catalogue, { strict: false }).reloadServers();
    expect(await names('status=unavailable')).toEqual(['alpha.zip']);
    expect(await names('status=ready')).toEqual(['beta.read_file', 'beta.write_file']);
    await change(`UPDATE mcp.external_servers SET status = 'CONNECTED' WHERE name = 'alpha'`);
    const { body } = await api.call('GET', '/tools?annotation=read_only');
    expect(body).toMatchObject({ total: 1 });
  });

  it('are sorted both ways', async () => {
    expect(await names('sort=-name')).toEqual(['beta.write_file', 'beta.read_file', 'alpha.zip']);
    expect(await names('sort=-server&limit=1')).toEqual(['beta.read_file']);
    const costs = (await rows('sort=-tokens')).map(({ tokens }) => tokens);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
    expect((await api.call('GET', '/tools/rows?sort=colour')).status).toBe(422);
  });

  it('list withheld tools, without their texts, to admins alone', async () => {
    await change(
      `UPDATE mcp.tools SET withheld = '{"hash":"h","isNew":true,"fields":[],"findings":[]}'
       WHERE original_name = 'zip'`,
    );
    expect(await rows('status=withheld')).toMatchObject([
      { name: 'alpha.zip', status: 'withheld', description: '', title: null },
    ]);
    expect(await rows('status=withheld', service.tokens.read)).toEqual([]);
    const { body } = await api.call('GET', '/servers?text=ALP');
    expect(body['servers']).toMatchObject([
      { name: 'alpha', withheld_count: 1, tool_count: 0, needs_login: false, protocol_era: null },
    ]);
    await change(`UPDATE mcp.tools SET withheld = NULL`);
  });

  it('find servers by transport and by a part of the name', async () => {
    const found = async (query: string) =>
      ((await api.call('GET', `/servers?${query}`)).body['servers'] as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await found('text=b%25')).toEqual([]);
    expect(await found('text=et')).toEqual(['beta']);
    expect(await found('transport_type=stdio')).toEqual(['alpha', 'beta']);
    expect(await found('transport_type=HTTP')).toEqual([]);
  });

  it('have no page of more than 200 kB, and lose no row', async () => {
    await insertTools(
      service.app,
      'large',
      Array.from({ length: 900 }, (_, i) => ({
        name: `tool_${String(i).padStart(4, '0')}_${'n'.repeat(200)}`,
        description: 'd'.repeat(1_000),
      })),
    );
    const seen: string[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const response = await fetch(
        `${service.url}/api/v1/aggregator/tools/rows?server=large&limit=500&offset=${offset}`,
        { headers: { authorization: `Bearer ${service.token}` } },
      );
      const text = await response.text();
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(200_000);
      const page = JSON.parse(text) as { tools: Row[]; total: number; next_offset: number | null };
      expect(page.total).toBe(900);
      seen.push(...page.tools.map(({ name }) => name));
      offset = page.next_offset;
    }
    expect(seen).toHaveLength(900);
    expect(new Set(seen).size).toBe(900);
  });
});
