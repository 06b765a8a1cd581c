import { Catalogue } from '@app/catalogue';
import { Database } from '@app/platform';
import {
  type FakeEndpoint,
  refuse,
  startFakeEndpoint,
} from '../../../test/fixtures/fake-endpoint.js';
import { startApp, type TestApp } from '../../../test/support/app.js';
import { eventually } from '../../../test/support/eventually.js';
import { createDatabase } from '../../../test/support/postgres.js';
import { insertTools, ROWS_ONLY } from '../../../test/support/rows.js';
import { ClassificationWorker } from './classify/classification-worker.js';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

function client(service: TestApp) {
  return async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text ? JSON.parse(text) : {}) as Answer['body'] };
  };
}

const classify = (service: TestApp): Promise<void> =>
  service.app.get(ClassificationWorker, { strict: false }).request();

const rowsOf = <T>(service: TestApp, sql: string, values: unknown[] = []): Promise<T[]> =>
  service.app.get(Database, { strict: false }).direct.query(sql, values);

interface ToolRow {
  readonly name: string;
  readonly skill_ids: string[];
  readonly primary_skill_id: string | null;
  readonly is_classified: boolean;
}

const toolRow = async (service: TestApp, name: string): Promise<ToolRow | undefined> =>
  (await rowsOf<ToolRow>(service, 'SELECT * FROM mcp.tools WHERE name = $1', [name]))[0];

const weatherTools = [
  { name: 'forecast', description: 'Weather forecast for a city, with temperature and rain' },
  { name: 'alerts', description: 'Storm and weather alerts of a region' },
];

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('classification by the local model on %s', (_, settings) => {
  let service: TestApp;
  let call: ReturnType<typeof client>;
  let ids: number[];

  beforeAll(async () => {
    service = await startApp({ ...ROWS_ONLY, ...settings });
    call = client(service);
    ids = await insertTools(service.app, 'weather', weatherTools);
    await classify(service);
  });
  afterAll(() => service.close());

  it('assigns skills to tools, in rows, catalogue and search', async () => {
    expect(await toolRow(service, 'weather.forecast')).toMatchObject({
      primary_skill_id: 'weather_env',
      is_classified: true,
    });
    await eventually(async () => {
      const { body } = await call('POST', '/search', { query: 'will it rain' });
      expect(body['matched_skills']).toEqual(
        expect.arrayContaining([expect.objectContaining({ id: 'weather_env' })]),
      );
      expect(JSON.stringify(body['tools'])).toContain('"primary_skill_id":"weather_env"');
    });
    const { body } = await call('GET', '/aggregator/skills/weather_env/tools');
    expect(body).toMatchObject({ total: 2 });
    const by = await rowsOf<{ classified_by: string }>(
      service,
      'SELECT classified_by FROM mcp.tool_classifications',
    );
    expect(by.every((row) => row.classified_by.startsWith('local:static-'))).toBe(true);
  });

  it('shows who classified a tool in every answer about tools (R27)', async () => {
    const byLocalModel = { is_classified: true, classified_by: expect.stringMatching(/^local:./) };
    const { body: tool } = await call('GET', `/aggregator/tools/${ids[0]}`);
    expect(tool).toMatchObject(byLocalModel);
    const server = (tool['source_server'] as { id: string }).id;
    const lists = [
      await call('GET', '/aggregator/tools?server=weather'),
      await call('GET', `/aggregator/servers/${server}/tools`),
      await call('POST', '/search', { query: 'weather forecast' }),
    ];
    for (const { body } of lists) {
      const named = (body['tools'] as { name: string; classified_by: unknown }[]).find(
        ({ name }) => name === 'weather.forecast',
      );
      expect(named?.classified_by).toEqual(byLocalModel.classified_by);
    }
  });

  it('says human of skills that were set by hand, and nothing of an unclassified tool (R27)', async () => {
    const shown = async (): Promise<unknown> =>
      (await call('GET', `/aggregator/tools/${ids[0]}`)).body['classified_by'];
    const set = { skill_ids: ['finance'] };
    expect((await call('PUT', `/aggregator/tools/${ids[0]}/skills`, set)).status).toBe(204);
    expect(await shown()).toBe('human');
    await rowsOf(service, 'UPDATE mcp.tools SET is_classified = false WHERE id = $1', [ids[0]]);
    await service.app.get(Catalogue, { strict: false }).reload();
    expect(await shown()).toBeNull();
    await call('DELETE', `/aggregator/tools/${ids[0]}/skills`);
    await classify(service);
    await eventually(async () => expect(await shown()).toMatch(/^local:./));
  });

  it('does nothing without a change', async () => {
    const state = () => rowsOf(service, 'SELECT * FROM mcp.tool_classifications ORDER BY tool_id');
    const before = await state();
    await classify(service);
    expect(await state()).toEqual(before);
  });

  it('keeps a human’s override, even when the tool changes, until it is dropped', async () => {
    const put = await call('PUT', `/aggregator/tools/${ids[0]}/skills`, {
      skill_ids: ['finance', 'media'],
    });
    expect(put.status).toBe(204);
    await rowsOf(
      service,
      `UPDATE mcp.tools SET content_hash = 'changed', is_classified = false WHERE id = $1`,
      [ids[0]],
    );
    await classify(service);
    expect(await toolRow(service, 'weather.forecast')).toMatchObject({
      skill_ids: ['finance', 'media'],
      primary_skill_id: 'finance',
      is_classified: true,
    });
    expect((await call('DELETE', `/aggregator/tools/${ids[0]}/skills`)).status).toBe(204);
    await classify(service);
    expect(await toolRow(service, 'weather.forecast')).toMatchObject({
      primary_skill_id: 'weather_env',
    });
  });

  it('shows the likeliest skills of a tool for which none is sure enough, with their confidence', async () => {
    const [vague] = await insertTools(service.app, 'vague', [{ name: 'qzx', description: 'qzx' }]);
    await classify(service);
    const { status, body } = await call('GET', `/aggregator/tools/${vague}/skills`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ tool_id: String(vague), skills: [], is_override: false });
    const suggested = body['suggested_skills'] as { id: string; confidence: number }[];
    expect(suggested).toHaveLength(3);
    for (const { confidence } of suggested) {
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThan(0.5);
    }
    await call('PUT', `/aggregator/tools/${vague}/skills`, { skill_ids: ['media'] });
    const after = await call('GET', `/aggregator/tools/${vague}/skills`);
    expect(after.body).toMatchObject({
      skills: [{ id: 'media', confidence: 1 }],
      suggested_skills: [],
      classified_by: 'human:admin',
      is_override: true,
    });
    expect((await call('GET', '/aggregator/tools/999999/skills')).status).toBe(404);
    await rowsOf(service, `DELETE FROM mcp.external_servers WHERE name = 'vague'`);
  });

  it('refuses unknown skills and unknown tools', async () => {
    const unknown = await call('PUT', `/aggregator/tools/${ids[0]}/skills`, { skill_ids: ['no'] });
    expect(unknown.status).toBe(422);
    expect(unknown.body['detail']).toEqual([
      expect.objectContaining({ loc: ['body', 'skill_ids', 0] }),
    ]);
    for (const id of ['0', '1.5', 'abc', '99999999999', '2147483647']) {
      const answer = await call('PUT', `/aggregator/tools/${id}/skills`, { skill_ids: ['media'] });
      expect([answer.status, answer.body['error_code']]).toEqual([404, 'TOOL_NOT_FOUND']);
    }
  });

  it('adds a skill and classifies again', async () => {
    const skill = {
      id: 'storm_warning',
      name: 'Storm warnings',
      description: 'Warnings of storms',
      prototypes: ['alerts. Storm and weather alerts of a region'],
    };
    expect(await call('POST', '/aggregator/skills', skill)).toMatchObject({
      status: 201,
      body: { id: 'storm_warning', is_active: true, tool_count: 0 },
    });
    expect((await call('POST', '/aggregator/skills', skill)).status).toBe(409);
    await classify(service);
    expect((await toolRow(service, 'weather.alerts'))?.skill_ids).toContain('storm_warning');
  });

  it('removes a skill that is switched off from its tools, and restores it', async () => {
    expect((await call('DELETE', '/aggregator/skills/storm_warning')).status).toBe(204);
    await classify(service);
    expect((await toolRow(service, 'weather.alerts'))?.skill_ids).not.toContain('storm_warning');
    const { body } = await call('GET', '/aggregator/skills?include_inactive=true&limit=500');
    expect(body['total']).toBe(29);
    expect((await call('GET', '/aggregator/skills')).body['total']).toBe(28);
    const back = await call('PATCH', '/aggregator/skills/storm_warning', { is_active: true });
    expect(back.body).toMatchObject({ is_active: true });
  });

  it('leaves no rows behind when the server is removed', async () => {
    const [server] = await rowsOf<{ id: string }>(
      service,
      `SELECT id FROM mcp.external_servers WHERE name = 'weather'`,
    );
    expect((await call('DELETE', `/aggregator/servers/${server?.id}`)).status).toBe(204);
    expect(await rowsOf(service, 'SELECT 1 FROM mcp.tools WHERE is_external')).toEqual([]);
    for (const table of ['tool_skill_assignments', 'tool_classifications', 'tool_vectors']) {
      const left = `SELECT 1 FROM mcp.${table}
                    WHERE tool_id NOT IN (SELECT id FROM mcp.tools WHERE NOT is_external)`;
      expect(await rowsOf(service, left)).toEqual([]);
    }
  });
});

const films = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `film_${i}`, description: 'Plays a film' }));

const cartoons: FakeEndpoint['answer'] = ({ body }) => {
  const content = JSON.stringify({
    tools: askedFor(body).map((id) => ({
      id,
      skills: [{ id: 'media', confidence: 0.8 }],
      suggested_skill: { name: 'Cartoons', description: 'Drawn films' },
    })),
  });
  return { choices: [{ index: 0, message: { role: 'assistant', content } }] };
};

const hostedBy = ({ url }: FakeEndpoint, model = 'stand-in') => ({
  LLM_PROVIDER: 'openai',
  LLM_URL: `${url}/v1`,
  LLM_MODEL: model,
});

describe('classification by a hosted model', () => {
  let endpoint: FakeEndpoint;
  let service: TestApp;
  let call: ReturnType<typeof client>;

  beforeEach(async () => {
    endpoint = await startFakeEndpoint(cartoons);
    service = await startApp({ ...ROWS_ONLY, ...hostedBy(endpoint) });
    call = client(service);
  });
  afterEach(async () => {
    await service.close();
    await endpoint.close();
  });

  it('sends ten tools per request, and records the classifier', async () => {
    // The service's own tool, which may otherwise be sent alone or with the others.
    await classify(service);
    const before = endpoint.requests.length;
    await insertTools(service.app, 'cinema', films(25));
    await classify(service);
    const sizes = endpoint.requests.slice(before).map(({ body }) => askedFor(body).length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([10, 10, 5]);
    const rows = await rowsOf<{ state: string; classified_by: string }>(
      service,
      'SELECT DISTINCT state, classified_by FROM mcp.tool_classifications',
    );
    expect(rows).toEqual([{ state: 'CLASSIFIED', classified_by: 'openai:stand-in' }]);
  });

  it('leaves tools unclassified but searchable while the model fails, and continues when it recovers', async () => {
    const working = endpoint.answer;
    endpoint.answer = refuse(500);
    await insertTools(service.app, 'cinema', films(1));
    await classify(service);
    expect((await toolRow(service, 'cinema.film_0'))?.is_classified).toBe(false);
    const [failed] = await rowsOf(
      service,
      `SELECT c.last_error FROM mcp.tool_classifications c JOIN mcp.tools t ON t.id = c.tool_id
       WHERE t.name = 'cinema.film_0'`,
    );
    expect(failed).toEqual({ last_error: expect.stringMatching(/^CLASSIFICATION_FAILED: ./) });
    const found = await call('POST', '/search', { query: 'watch a film' });
    expect(JSON.stringify(found.body['tools'])).toContain('cinema.film_0');
    endpoint.answer = working;
    await insertTools(service.app, 'theatre', films(1));
    await classify(service);
    await eventually(async () => {
      await classify(service);
      expect((await toolRow(service, 'cinema.film_0'))?.is_classified).toBe(true);
    });
  });

  it('lets a human approve a suggested skill once', async () => {
    await insertTools(service.app, 'cinema', films(2));
    await classify(service);
    const { body } = await call('GET', '/aggregator/skill-suggestions?status=PENDING');
    const [suggestion] = body['suggestions'] as { id: number; tool_ids: string[] }[];
    expect(suggestion?.tool_ids).toHaveLength(3); // including own tools
    const path = `/aggregator/skill-suggestions/${suggestion?.id}`;
    expect(await call('POST', `${path}/approve`)).toMatchObject({
      status: 200,
      body: { status: 'APPROVED', skill_id: 'cartoons' },
    });
    expect((await call('GET', '/aggregator/skills/cartoons')).status).toBe(200);
    expect((await call('POST', `${path}/reject`)).status).toBe(409);
    expect((await call('POST', '/aggregator/skill-suggestions/999/reject')).status).toBe(404);
  });
});

describe('a hosted model that is configured later', () => {
  let endpoint: FakeEndpoint;
  let settings: Record<string, string>;

  beforeEach(async () => {
    endpoint = await startFakeEndpoint(cartoons);
    settings = { ...ROWS_ONLY, DATABASE_URL: await createDatabase() };
    const service = await startApp(settings);
    const [first] = await insertTools(service.app, 'weather', weatherTools);
    await classify(service);
    await client(service)('PUT', `/aggregator/tools/${first}/skills`, { skill_ids: ['finance'] });
    await service.close();
  });
  afterEach(() => endpoint.close());

  const verdicts = async (more: Record<string, string>): Promise<unknown[]> => {
    const service = await startApp({ ...settings, ...more });
    await classify(service);
    const rows = await rowsOf<unknown>(
      service,
      `SELECT t.original_name AS name, t.primary_skill_id AS skill, c.classified_by AS by
       FROM mcp.tools t JOIN mcp.tool_classifications c ON c.tool_id = t.id
       WHERE t.is_external ORDER BY 1 DESC`,
    );
    await service.close();
    return rows;
  };
  const byHuman = { name: 'forecast', skill: 'finance', by: 'human:admin' };
  const byModel = { name: 'alerts', skill: 'media', by: 'openai:stand-in' };

  it('reclassifies the results of the local model, and keeps overrides', async () => {
    expect(await verdicts(hostedBy(endpoint))).toEqual([byHuman, byModel]);
    expect(endpoint.requests.map(({ body }) => askedFor(body).length)).toEqual([2]); // including own tools
  });

  it('is not paid twice: no other model reclassifies its results', async () => {
    await verdicts(hostedBy(endpoint));
    expect(await verdicts(hostedBy(endpoint, 'another'))).toEqual([byHuman, byModel]);
    expect(await verdicts({})).toEqual([byHuman, byModel]);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('removes no skills while it fails', async () => {
    endpoint.answer = refuse(500);
    const local = expect.stringMatching(/^local:/) as string;
    expect(await verdicts(hostedBy(endpoint))).toEqual([
      byHuman,
      { name: 'alerts', skill: 'weather_env', by: local },
    ]);
  });
});

function askedFor(body: unknown): number[] {
  const messages =
    typeof body === 'object' && body !== null && 'messages' in body ? body.messages : [];
  const user = Array.isArray(messages) ? (messages as { content: string }[])[1] : undefined;
  const question = JSON.parse(user?.content ?? '{"tools":[]}') as { tools: { id: number }[] };
  return question.tools.map((tool) => tool.id);
}
