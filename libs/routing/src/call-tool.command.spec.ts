import {
  ConnectionLost,
  CredentialsRefused,
  type RequestOptions,
  RequestTimedOut,
} from '@app/mcp-client';
import { UpstreamRpcError } from '@app/mcp-protocol';
import type { SuccessfulCall } from '@app/learning';
import { type JsonObject, RawJsonObject, Variables } from '@app/platform';
import { CallerSessions, ServerUnavailable } from '@app/sessions';
import { catalogueOf, type PicturedServer, serverIdOf } from '../../../test/support/catalogue.js';
import { TestMetrics } from '../../../test/support/metrics.js';
import type { FinishedCall } from './call-audit.js';
import { CallMetrics, executionDuration, routingDuration } from './call.metrics.js';
import { CallSlots } from './call-slots.js';
import { CallTool, CallToolHandler } from './call-tool.command.js';
import { resolveRoute } from './route.js';

type Answer = JsonObject | Error;
interface Sent {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly options: RequestOptions;
}

/** Sessions that answer from a list, one entry per request. */
class FakePool {
  readonly sent: Sent[] = [];
  readonly acquiredFor: string[] = [];
  readonly waits: number[] = [];
  onSettled: () => void = () => undefined;
  isOpen = true;
  acquireError: Error | undefined;

  constructor(private readonly answers: Answer[]) {}

  get() {
    return this.isOpen ? this.session : undefined;
  }

  get acquired(): number {
    return this.acquiredFor.length;
  }

  async statusWritten() {
    this.onSettled();
  }

  async acquire({ status }: { status: string }, withinMs: number) {
    this.waits.push(withinMs);
    this.acquiredFor.push(status);
    if (this.acquireError) throw this.acquireError;
    this.isOpen = true;
    return this.session;
  }

  readonly session = {
    requestBytes: async (
      method: string,
      params: JsonObject | undefined,
      options: RequestOptions,
    ) => {
      this.sent.push({ method, params, options });
      const answer = this.answers.shift();
      if (answer instanceof ConnectionLost) this.isOpen = false;
      if (!answer || answer instanceof Error) throw answer ?? new Error('no answer left');
      return RawJsonObject.of(answer);
    },
  };
}

function routing(
  server: Partial<PicturedServer>,
  answers: Answer[],
  { slots = 8, timeout = 60 } = {},
) {
  const pool = new FakePool(answers);
  const people = {
    acquire: (_server: unknown, person: { subject: string }) => {
      asked.push(person.subject);
      return Promise.resolve({ session: pool.session, generation: 'first' });
    },
    explained: (_server: unknown, _person: unknown, generation: string, error: unknown) => {
      refused.push(generation);
      return Promise.resolve(error);
    },
  };
  const asked: string[] = [];
  const refused: string[] = [];
  const audit: FinishedCall[] = [];
  const used: SuccessfulCall[] = [];
  const metrics = new TestMetrics();
  const catalogue = { current: catalogueOf([{ name: 'github', tools: ['create'], ...server }]) };
  const handler = new CallToolHandler(
    catalogue as never,
    pool as never,
    people as never,
    new CallerSessions(pool as never, people as never),
    new CallSlots({ running: slots, waiting: 8 }),
    new CallMetrics(metrics.of(routingDuration), metrics.of(executionDuration)),
    { note: (call: FinishedCall) => audit.push(call) } as never,
    { begin: () => undefined, end: () => undefined } as never,
    { noteCall: (call: SuccessfulCall) => used.push(call) } as never,
    { MCP_AGGREGATOR_REQUEST_TIMEOUT: timeout } as never,
    new Variables({}),
  );
  const call = (
    name = 'github.create',
    params: JsonObject = { arguments: { title: 'Bug' } },
    signal = new AbortController().signal,
  ) => handler.execute(new CallTool(name, params, { actor: { name: 'ada', ip: '::1' }, signal }));
  return { pool, audit, used, metrics, call, catalogue, handler, asked, refused };
}

const ok = { content: [{ type: 'text', text: 'done' }], _meta: { a: 1 }, structuredContent: {} };
const readOnly = [{ name: 'create', annotations: { readOnlyHint: true } }];

describe(CallToolHandler.name, () => {
  it('gives a call the session of its person when the mode changes while it waits', async () => {
    const { pool, call, catalogue, asked } = routing({}, [ok]);
    pool.isOpen = false;
    const acquire = pool.acquire.bind(pool);
    pool.acquire = async (...wanted) => {
      const session = await acquire(...wanted);
      catalogue.current = catalogueOf([
        { name: 'github', tools: ['create'], credentials: 'per_user' },
      ]);
      return session;
    };
    await call();
    expect(asked).toEqual(['name:ada']);
    expect(pool.sent).toHaveLength(1);
  });

  it('says which credentials of the person were refused', async () => {
    const { call, refused } = routing({ credentials: 'per_user' }, [new CredentialsRefused(401)]);
    await expect(call()).rejects.toThrow();
    expect(refused).toEqual(['first']);
  });

  it('connects no server that was disconnected or removed while the call waited', async () => {
    const { pool, audit, catalogue, handler } = routing({}, []);
    const route = resolveRoute(catalogue.current, 'github.create');
    const caller = { actor: { name: 'ada', ip: '::1' }, signal: new AbortController().signal };
    const call = new CallTool(route, { arguments: {} }, caller);
    pool.isOpen = false;
    pool.acquireError = new ServerUnavailable(route.server);
    catalogue.current = catalogueOf([
      { name: 'github', tools: ['create'], status: 'DISCONNECTED' },
    ]);
    await expect(handler.execute(call)).rejects.toThrow(ServerUnavailable);
    expect(pool.acquiredFor).toEqual(['DISCONNECTED']);
    catalogue.current = catalogueOf([]);
    await expect(handler.execute(call)).rejects.toThrow(ServerUnavailable);
    expect(pool.acquiredFor).toEqual(['DISCONNECTED']);
    expect(audit).toHaveLength(2);
  });

  it('sends the original name with everything else unchanged, and returns the result', async () => {
    const { pool, call } = routing({}, [ok]);
    const params = { arguments: { title: 'Bug' }, _meta: { mine: true } };
    const answer = await call('github__create', params);
    expect(answer.result.toObject()).toEqual(ok);
    expect(pool.sent).toMatchObject([
      { method: 'tools/call', params: { ...params, name: 'create' } },
    ]);
    expect(answer.route.server.name).toBe('github');
  });

  it('sends params without arguments unchanged too', async () => {
    const { pool, call } = routing({}, [ok, ok]);
    await call('github.create', { _meta: { mine: true } });
    await call('github.create', { name: 'another' });
    expect(pool.sent.map(({ params }) => params)).toEqual([
      { name: 'create', _meta: { mine: true } },
      { name: 'create', arguments: undefined },
    ]);
  });

  it('says how long routing, the server and all of it took', async () => {
    const { audit, call } = routing({}, [ok]);
    const { routingMs, executionMs, totalMs } = await call();
    for (const ms of [routingMs, executionMs, totalMs]) expect(ms).toBeGreaterThanOrEqual(0);
    expect(totalMs).toBeGreaterThanOrEqual(executionMs);
    expect(totalMs).toBeLessThan(60_000);
    expect(audit).toMatchObject([{ milliseconds: totalMs }]);
  });

  it('frees its slot for the next call, however it ends', async () => {
    const { call } = routing({}, [new UpstreamRpcError({ code: 1, message: 'no' }), ok], {
      slots: 1,
    });
    await expect(call()).rejects.toThrow('no');
    await expect(call()).resolves.toBeDefined();
  });

  it('waits for a session no longer than the call may take', async () => {
    const { pool, call } = routing({}, [ok], { timeout: 1 });
    pool.isOpen = false;
    await call();
    expect(pool.waits).toEqual([expect.any(Number)]);
    expect(pool.waits[0]).toBeLessThanOrEqual(1_000);
  });

  it('returns an error reported by the tool as an answer', async () => {
    const { audit, call } = routing({}, [{ content: [], isError: true }]);
    expect((await call()).result.get('isError')).toBe(true);
    expect(audit).toMatchObject([{ isError: true, actor: { name: 'ada' } }]);
    expect(audit[0]?.failure).toBeUndefined();
  });

  it('names the server that refused the credentials of the service (R48)', async () => {
    const { audit, call } = routing({}, [new CredentialsRefused(403)]);
    await expect(call()).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      message: 'Server github cannot be used: The server refused the credentials (HTTP 403)',
      server: { id: serverIdOf('github'), name: 'github', status: 'CONNECTED' },
    });
    expect(audit).toMatchObject([{ failure: 'SERVER_UNAVAILABLE' }]);
  });

  it('reports a fault of its own as one of routing, without its text (R48)', async () => {
    const fault = new TypeError('x is not a function');
    const { audit, call } = routing({}, [fault]);
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'internal', code: 'ROUTING_FAILED', cause: fault });
    expect(String(error)).not.toContain('is not a function');
    expect(audit).toMatchObject([{ failure: 'ROUTING_FAILED', isError: false }]);
  });

  it('does not report a call that its caller gave up as a fault', async () => {
    const { pool, call } = routing({}, []);
    const gone = new Error('the client went away');
    pool.isOpen = false;
    pool.acquireError = gone;
    await expect(call('github.create', {}, AbortSignal.abort(gone))).rejects.toBe(gone);
  });

  it('records caller and tool, never arguments', async () => {
    const { audit, call } = routing({}, [ok]);
    await call();
    expect(JSON.stringify(audit)).not.toContain('Bug');
  });

  it('measures routing and execution', async () => {
    const { metrics, call } = routing({}, [ok]);
    await call();
    const text = await metrics.registry.metrics();
    expect(text).toContain('mcp_aggregator_routing_duration_seconds_bucket{le="0.05"} 1');
    expect(text).toContain('mcp_aggregator_routing_duration_seconds_bucket{le="0.1"} 1');
    expect(text).toContain(
      'mcp_aggregator_execution_duration_seconds_bucket{le="1",server="github"} 1',
    );
  });

  it('passes on the error of the server, and does not repeat the call', async () => {
    const { pool, audit, call } = routing({ tools: readOnly }, [
      new UpstreamRpcError({ code: -32_602, message: 'title is missing' }),
    ]);
    await expect(call()).rejects.toMatchObject({
      code: 'EXECUTION_FAILED',
      context: { upstream_code: -32_602, upstream_message: 'title is missing' },
    });
    expect(pool.sent).toHaveLength(1);
    expect(audit).toMatchObject([{ failure: 'EXECUTION_FAILED' }]);
  });

  it('does not repeat a call that timed out', async () => {
    const { pool, call } = routing({ tools: readOnly }, [
      new RequestTimedOut('tools/call', 60_000),
    ]);
    await expect(call()).rejects.toMatchObject({
      code: 'EXECUTION_TIMEOUT',
      context: { tool: 'github.create', outcome: 'unknown' },
    });
    expect(pool.sent).toHaveLength(1);
  });

  describe('when the connection is lost', () => {
    it('reports that it is unknown whether the tool ran (EC-003)', async () => {
      const { pool, call } = routing({}, [new ConnectionLost('reset', 'unknown')]);
      await expect(call()).rejects.toMatchObject({
        code: 'SERVER_UNAVAILABLE',
        server: { id: serverIdOf('github'), name: 'github', status: 'CONNECTED' },
        context: { tool: 'github.create', outcome: 'unknown' },
      });
      expect(pool.sent).toHaveLength(1);
    });

    it('names the status that the server has after the loss', async () => {
      const { pool, catalogue, call } = routing({}, [new ConnectionLost('reset', 'unknown')]);
      pool.onSettled = () => {
        catalogue.current = catalogueOf([{ name: 'github', status: 'ERROR', tools: ['create'] }]);
      };
      await expect(call()).rejects.toMatchObject({
        server: { id: serverIdOf('github'), name: 'github', status: 'ERROR' },
      });
    });

    it('waits 5 s for sessions in all, over both attempts', async () => {
      const { pool, call } = routing({}, [
        new ConnectionLost('no session', 'no', undefined, 4_000),
        ok,
      ]);
      await call();
      expect(pool.waits).toEqual([expect.any(Number)]);
      expect(pool.waits[0]).toBeLessThanOrEqual(1_000);
      expect(pool.sent[0]?.options.renewWithinMs).toBe(5_000);
      expect(pool.sent[1]?.options.renewWithinMs).toBeLessThanOrEqual(1_000);
    });

    it('repeats a call that was certainly not executed', async () => {
      const { pool, call } = routing({}, [new ConnectionLost('reset', 'no'), ok]);
      expect((await call()).result.toObject()).toEqual(ok);
      expect(pool).toMatchObject({ acquired: 1, sent: { length: 2 } });
    });

    it.each(['readOnlyHint', 'idempotentHint'])('repeats a tool with %s', async (hint) => {
      const tools = [{ name: 'create', annotations: { [hint]: true } }];
      const { call } = routing({ tools }, [new ConnectionLost('reset', 'unknown'), ok]);
      expect((await call()).result.toObject()).toEqual(ok);
    });

    it('reports the outcome of the first attempt when the second was not sent', async () => {
      for (const second of [
        new ConnectionLost('refused', 'no'),
        new ServerUnavailable({ id: '1', name: 'github', status: 'ERROR' }),
        new CredentialsRefused(401),
        new RequestTimedOut('tools/call', 60_000, 'no'),
      ]) {
        const { call } = routing({ tools: readOnly }, [
          new ConnectionLost('reset', 'unknown'),
          second,
        ]);
        await expect(call()).rejects.toMatchObject({
          context: { tool: 'github.create', outcome: 'unknown' },
        });
      }
    });

    it('reports the error of the second attempt when that reached the server', async () => {
      const refused = new UpstreamRpcError({ code: -32_602, message: 'title is missing' });
      const { call } = routing({ tools: readOnly }, [
        new ConnectionLost('reset', 'unknown'),
        refused,
      ]);
      await expect(call()).rejects.toBe(refused);
      const late = routing({ tools: readOnly }, [
        new ConnectionLost('reset', 'unknown'),
        new RequestTimedOut('tools/call', 60_000),
      ]);
      await expect(late.call()).rejects.toMatchObject({ code: 'EXECUTION_TIMEOUT' });
    });

    it('reports that the second attempt was refused when the first was not executed', async () => {
      const lost = new ConnectionLost('reset', 'no');
      const { call } = routing({}, [lost, new CredentialsRefused(401)]);
      await expect(call()).rejects.toMatchObject({
        message: expect.stringContaining('refused the credentials') as string,
        context: { tool: 'github.create', outcome: 'not executed' },
      });
    });

    it('repeats only once', async () => {
      const lost = new ConnectionLost('reset', 'no');
      const { pool, call } = routing({}, [lost, lost, ok]);
      await expect(call()).rejects.toMatchObject({ context: { outcome: 'not executed' } });
      expect(pool.sent).toHaveLength(2);
    });
  });

  it('tells searches of calls that succeeded, and of no others', async () => {
    const { call, used } = routing({}, [ok, { ...ok, isError: true }, new Error('broken')]);
    await call();
    await call();
    await expect(call()).rejects.toThrow();
    expect(used).toMatchObject([{ caller: { name: 'ada' }, toolId: expect.any(Number) }]);
  });

  describe('when there is no session', () => {
    it.each(['ERROR', 'CONNECTED', 'DEGRADED', 'CONNECTING'] as const)(
      'opens a session to a server that is %s (R15)',
      async (status) => {
        const { pool, call } = routing({ status }, [ok]);
        pool.isOpen = false;
        expect((await call()).result.toObject()).toEqual(ok);
        expect(pool.acquired).toBe(1);
      },
    );

    it('says that the call was not executed when the pool has no session (R46)', async () => {
      const { pool, audit, call } = routing({ status: 'ERROR' }, [ok]);
      pool.isOpen = false;
      pool.acquireError = new ServerUnavailable({ id: '1', name: 'github', status: 'ERROR' });
      await expect(call()).rejects.toMatchObject({
        code: 'SERVER_UNAVAILABLE',
        context: { tool: 'github.create', outcome: 'not executed' },
      });
      expect(audit).toMatchObject([{ failure: 'SERVER_UNAVAILABLE' }]);
    });
  });
});
