import { serverIdOf } from '../../../test/support/catalogue.js';
import { eventually } from '../../../test/support/eventually.js';
import { startGateway } from '../../../test/support/gateway.js';
import { fixture, stdioPeer } from '../../../test/support/peers.js';
import { ToolCallsController } from './tool-calls.controller.js';

let gateway: Awaited<ReturnType<typeof startGateway>>;

async function start(settings: Record<string, string> = {}): Promise<void> {
  gateway = await startGateway(
    {
      moody: stdioPeer(fixture('moody.mjs')),
      other: stdioPeer(fixture('moody.mjs')),
      peer: stdioPeer(fixture('peer-v1.mjs'), ['stdio']),
    },
    settings,
  );
}

async function call(
  body: object,
  signal?: AbortSignal,
): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${gateway.origin}/api/v1/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return { status: answer.status, body: await answer.json() };
}

const metadata = {
  routed_to: 'moody',
  server_id: serverIdOf('moody'),
  routing_time_ms: expect.any(Number),
  execution_time_ms: expect.any(Number),
  total_time_ms: expect.any(Number),
};

describe(ToolCallsController.name, () => {
  beforeAll(() => start());
  afterAll(() => gateway.close());

  it('returns the complete result of the server and details of the call', async () => {
    expect(await call({ name: 'moody.everything' })).toEqual({
      status: 200,
      body: {
        content: [
          { type: 'text', text: 'a', annotations: { audience: ['user'] }, _meta: { 'x/y': 1 } },
          { type: 'made-up', of: { the: 'future' } },
        ],
        structuredContent: { n: 1.5, deep: [null, { a: 'ü' }] },
        _meta: { 'some/key': [1, 2] },
        unheardOf: true,
        isError: false,
        metadata,
      },
    });
  });

  it('forwards arguments', async () => {
    const { body } = await call({ name: 'peer.echo', arguments: { text: 'hello' } });
    expect(body).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
  });

  it('returns the error of a tool as an answer (R28)', async () => {
    expect(await call({ name: 'moody.fails' })).toEqual({
      status: 200,
      body: { content: [{ type: 'text', text: 'no luck' }], isError: true, metadata },
    });
  });

  it('accepts server and original name separately', async () => {
    const { status } = await call({ name: 'everything', server_id: serverIdOf('moody') });
    expect(status).toBe(200);
  });

  it('returns 502 with the message of the server when it refuses', async () => {
    expect(await call({ name: 'moody.refuses' })).toEqual({
      status: 502,
      body: {
        detail: 'not today',
        error_code: 'EXECUTION_FAILED',
        context: { upstream_code: -32_050, upstream_message: 'not today' },
      },
    });
  });

  it('cancels the call when the client disconnects', async () => {
    const controller = new AbortController();
    const abandoned = call({ name: 'peer.wait', arguments: { ms: 60_000 } }, controller.signal);
    const failed = expect(abandoned).rejects.toThrow();
    await eventually(() => expect(gateway.sessionOf('peer').pending).toBe(1));
    controller.abort();
    await failed;
    await eventually(() => {
      expect(gateway.sessionOf('peer').pending).toBe(0);
      expect(gateway.sessionOf('peer').logs().join()).toContain('the wait was cancelled');
    });
  });

  it.each([
    [404, 'TOOL_NOT_FOUND', { name: 'moody.nothing' }],
    [404, 'SERVER_NOT_FOUND', { name: 'everything', server_id: 'nowhere' }],
    [400, 'TOOL_AMBIGUOUS', { name: 'everything' }],
    [422, 'VALIDATION_ERROR', {}],
    [422, 'VALIDATION_ERROR', { name: '' }],
    [422, 'VALIDATION_ERROR', { name: 'moody.everything', arguments: [1] }],
    [422, 'VALIDATION_ERROR', { name: 'moody.everything', unknown: 1 }],
  ])('returns %i %s for %j', async (status, error_code, body) => {
    expect(await call(body)).toMatchObject({ status, body: { error_code } });
  });
});

describe(`${ToolCallsController.name} with servers of its own`, () => {
  afterEach(() => gateway.close());

  it('returns 503 with an unknown outcome when the server dies during a call (EC-003)', async () => {
    await start();
    const server = { id: serverIdOf('moody'), name: 'moody', status: 'CONNECTED' };
    expect(await call({ name: 'moody.dies' })).toEqual({
      status: 503,
      body: {
        detail: 'Server unavailable: moody',
        error_code: 'SERVER_UNAVAILABLE',
        server,
        context: { tool: 'moody.dies', outcome: 'unknown' },
      },
    });
    expect(await call({ name: 'moody.everything' })).toEqual({
      status: 503,
      body: {
        detail: 'Server unavailable: moody',
        error_code: 'SERVER_UNAVAILABLE',
        server,
        context: { tool: 'moody.everything', outcome: 'not executed' },
      },
    });
    expect((await call({ name: 'other.everything' })).status).toBe(200);
  });

  it('returns 504 when the server does not answer in time', async () => {
    await start({ MCP_AGGREGATOR_REQUEST_TIMEOUT: '2' });
    expect(await call({ name: 'moody.hangs' })).toMatchObject({
      status: 504,
      body: {
        error_code: 'EXECUTION_TIMEOUT',
        context: { tool: 'moody.hangs', outcome: 'unknown' },
      },
    });
  });

  it('records caller, tool and count, never arguments', async () => {
    await start();
    await call({ name: 'peer.echo', arguments: { text: 'secret' } });
    await call({ name: 'peer.echo', arguments: { text: 'secret' } });
    await call({ name: 'moody.refuses' });
    const of = (tool: string) =>
      gateway.audited.filter(({ details }) => details?.['tool'] === tool);
    // Equal calls are counted in one entry, or in two when a second passed between them.
    const calls = (tool: string): number =>
      of(tool).reduce((sum, { details }) => sum + Number(details?.['calls']), 0);
    await eventually(() => {
      expect([calls('peer.echo'), calls('moody.refuses')]).toEqual([2, 1]);
    });
    expect(of('peer.echo')[0]).toMatchObject({
      event: 'tool.called',
      outcome: 'success',
      actor: { name: 'tester' },
      server: { name: 'peer' },
    });
    expect(of('moody.refuses')[0]).toMatchObject({
      outcome: 'failure',
      details: { error_code: 'EXECUTION_FAILED' },
    });
    expect(JSON.stringify(gateway.audited)).not.toContain('secret');
  });
});
