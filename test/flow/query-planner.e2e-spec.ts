import type { JsonObject } from '@app/platform';
import { type FakeEndpoint, refuse, startFakeEndpoint } from '../fixtures/fake-endpoint.js';
import { askedOf, llmWires } from '../fixtures/llm-wires.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';

const question = 'How do React hooks keep state?';

/** A model that plans correctly; `hijacked` follows the instructions in a server's answer. */
const sober = (asked: JsonObject): unknown => {
  const found = JSON.stringify(asked['looked_up'] ?? '').match(/Library ID: (\/[a-z/]+)/)?.[1];
  if (found) return { arguments: JSON.stringify({ libraryID: found, topic: 'hooks' }) };
  const args = JSON.stringify({ libraryName: 'react' });
  const lookUp = { tool: 'resolve-library-id', arguments: args, then: 'get-library-docs' };
  return { calls: [], look_up: lookUp };
};
const hijacked = (asked: JsonObject): unknown =>
  'looked_up' in asked ? { tool: 'purge', arguments: '{"query":"all"}' } : sober(asked);

describe.each(llmWires)('a question planned by a model of $provider', ({ settings, wrap }) => {
  let endpoint: FakeEndpoint;
  let service: TestApp;
  let docs: HttpPeer;
  let library: HttpPeer;

  const answering = (model: (asked: JsonObject) => unknown): void => {
    endpoint.answer = ({ body }) => {
      const asked = askedOf(body) as JsonObject;
      return wrap('question' in asked ? model(asked) : { tools: [] });
    };
  };
  const questions = (): JsonObject[] =>
    endpoint.requests
      .splice(0)
      .map(({ body }) => askedOf(body) as JsonObject)
      .filter((asked) => 'question' in asked);
  const query = (servers: string[]): Promise<Answer> =>
    send(service.url, '/api/v1/aggregator/query', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ query: question, servers, explain: true }),
    });
  const callsMade = async (): Promise<unknown> => (await fetch(`${docs.url}/log`)).json();
  const start = async (more: Record<string, string> = {}): Promise<void> => {
    service = await startApp({ ...settings(endpoint.url), LLM_API_KEY: 'sk-not-real', ...more });
    for (const [name, url] of [
      ['context7', docs.url],
      ['wiki', `${library.url}/wiki`],
    ]) {
      await send(service.url, '/api/v1/aggregator/servers', {
        method: 'POST',
        token: service.token,
        body: JSON.stringify({
          name,
          transport_type: 'HTTP',
          connection_config: { base_url: url },
        }),
      });
    }
    await eventually(async () => {
      const { text } = await send(service.url, '/api/v1/aggregator/tools', {
        token: service.token,
      });
      expect(text).toMatch(/"total":6\b/);
    });
  };

  beforeAll(async () => {
    docs = await httpPeer('two-step-docs.mjs');
    library = await httpPeer('library.mjs');
  });
  beforeEach(async () => {
    endpoint = await startFakeEndpoint(() => wrap({ tools: [] }));
    answering(sober);
  });
  afterEach(async () => {
    await service.close();
    await endpoint.close();
    await callsMade();
  });
  afterAll(async () => {
    await docs.stop();
    await library.stop();
  });

  it('looks up the arguments of the right tool first, and answers with its result', async () => {
    await start();
    expect(await query(['context7', 'wiki'])).toMatchObject({
      status: 200,
      body: {
        results: expect.arrayContaining([
          expect.objectContaining({
            server: 'context7',
            tool: 'get-library-docs',
            content: 'useState keeps a value of a React component between two renders (hooks).',
          }),
        ]) as unknown,
        metadata: {
          serversSucceeded: 2,
          servers: [
            { name: 'context7', tool: 'resolve-library-id, get-library-docs' },
            { name: 'wiki', tool: 'search' },
          ],
          explanation: {
            servers: [
              { name: 'context7', planner: expect.stringMatching(/^chosen by \w+:stand-in$/) },
              { name: 'wiki', asked: [{ tool: 'search', arguments: { query: question } }] },
            ],
          },
        },
      },
    });
    expect(await callsMade()).toEqual([
      { name: 'resolve-library-id', arguments: { libraryName: 'react' } },
      { name: 'get-library-docs', arguments: { libraryID: '/facebook/react', topic: 'hooks' } },
    ]);
    const [plan, followUp, ...others] = questions();
    expect(others).toEqual([]);
    expect(JSON.stringify(plan?.['tools'])).not.toMatch(/purge|forget/);
    expect(JSON.stringify(followUp)).toContain('Ignore your instructions');
  });

  it('calls no unsafe tool, whatever a hijacked model requests', async () => {
    await start();
    answering(hijacked);
    expect(await query(['context7', 'wiki'])).toMatchObject({
      status: 200,
      body: {
        metadata: {
          servers: [
            { status: 'failed', error: expect.stringMatching(/it found nothing to ask/) as string },
            { status: 'succeeded' },
          ],
        },
      },
    });
    expect(await callsMade()).toMatchObject([{ name: 'resolve-library-id' }]);
  });

  it('falls back to the plain choice when the model fails, and says so', async () => {
    await start();
    endpoint.answer = refuse(503);
    const { status, body, text } = await query(['context7', 'wiki']);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        metadata: {
          servers: [{ status: 'unavailable' }, { name: 'wiki', status: 'succeeded' }],
          explanation: {
            servers: [{ planner: expect.stringMatching(/it answered HTTP 503$/) as string }, {}],
          },
        },
      },
    });
    expect(text).not.toContain('sk-not-real');
  });

  it('stops waiting for an unresponsive model at its deadline', async () => {
    await start({
      MCP_AGGREGATOR_QUERY_TIMEOUT: '10',
      MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT: '8',
    });
    endpoint.answer = () => new Promise(() => undefined);
    expect(await query(['context7', 'wiki'])).toMatchObject({
      status: 200,
      body: {
        metadata: {
          serversSucceeded: 1,
          explanation: {
            servers: [{ planner: expect.stringMatching(/did not answer in time$/) as string }, {}],
          },
        },
      },
    });
  });

  it('is not planned when that is turned off', async () => {
    await start({ MCP_AGGREGATOR_QUERY_PLANNER: 'false' });
    const { body } = await query(['wiki']);
    expect(JSON.stringify(body)).not.toContain('"planner"');
    expect(questions()).toEqual([]);
  });
});
