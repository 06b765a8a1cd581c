import { ConnectionLost, RequestTimedOut, UpstreamRpcError } from '@app/mcp';
import type { RequestOptions } from '@app/mcp';
import { type JsonObject, Metrics, WrittenObject } from '@app/platform';
import { ServerUnavailable } from '@app/sessions';
import { catalogueOf, type PicturedServer, serverIdOf } from '../../../test/support/catalogue.js';
import type { FinishedCall } from './call-audit.js';
import { CallMetrics } from './call.metrics.js';
import { CallSlots } from './call-slots.js';
import { CallTool, CallToolHandler } from './call-tool.command.js';

type Answer = JsonObject | Error;
interface Sent {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly options: RequestOptions;
}

/** Sessions that answer from a list, one answer a request. */
class FakePool {
  readonly sent: Sent[] = [];
  acquired = 0;
  isOpen = true;
  acquireError: Error | undefined;

  constructor(private readonly answers: Answer[]) {}

  get() {
    return this.isOpen ? this.session : undefined;
  }

  async acquire() {
    this.acquired += 1;
    if (this.acquireError) throw this.acquireError;
    this.isOpen = true;
    return this.session;
  }

  private readonly session = {
    relay: async (method: string, params: JsonObject | undefined, options: RequestOptions) => {
      this.sent.push({ method, params, options });
      const answer = this.answers.shift();
      if (answer instanceof ConnectionLost) this.isOpen = false;
      if (!answer || answer instanceof Error) throw answer ?? new Error('no answer left');
      return WrittenObject.of(answer);
    },
  };
}

function routing(server: Partial<PicturedServer>, answers: Answer[]) {
  const pool = new FakePool(answers);
  const audit: FinishedCall[] = [];
  const metrics = new Metrics();
  const current = catalogueOf([{ name: 'github', tools: ['create'], ...server }]);
  const handler = new CallToolHandler(
    { current } as never,
    pool as never,
    new CallSlots({ running: 8, waiting: 8 }),
    new CallMetrics(metrics),
    { note: (call: FinishedCall) => audit.push(call) } as never,
    { MCP_AGGREGATOR_REQUEST_TIMEOUT: 60 } as never,
  );
  const call = (name = 'github.create', params: JsonObject = { arguments: { title: 'Bug' } }) =>
    handler.execute(
      new CallTool(name, params, {
        actor: { name: 'ada', ip: '::1' },
        signal: new AbortController().signal,
      }),
    );
  return { pool, audit, metrics, call };
}

const ok = { content: [{ type: 'text', text: 'done' }], _meta: { a: 1 }, structuredContent: {} };
const readOnly = [{ name: 'create', annotations: { readOnlyHint: true } }];

describe(CallToolHandler.name, () => {
  it('sends the tool’s own name with everything else unchanged, and hands the result on', async () => {
    const { pool, call } = routing({}, [ok]);
    const params = { arguments: { title: 'Bug' }, _meta: { mine: true } };
    const answer = await call('github__create', params);
    expect(answer.result.toObject()).toEqual(ok);
    expect(pool.sent).toMatchObject([
      { method: 'tools/call', params: { ...params, name: 'create' } },
    ]);
    expect(answer.route.server.name).toBe('github');
  });

  it('takes an error that the tool reports for an answer', async () => {
    const { audit, call } = routing({}, [{ content: [], isError: true }]);
    expect((await call()).result.get('isError')).toBe(true);
    expect(audit).toMatchObject([{ isError: true, actor: { name: 'ada' } }]);
    expect(audit[0]?.failure).toBeUndefined();
  });

  it('notes who called what, never with what', async () => {
    const { audit, call } = routing({}, [ok]);
    await call();
    expect(JSON.stringify(audit)).not.toContain('Bug');
  });

  it('measures finding the way and walking it', async () => {
    const { metrics, call } = routing({}, [ok]);
    await call();
    const text = await metrics.registry.metrics();
    expect(text).toContain('mcp_aggregator_routing_duration_seconds_bucket{le="0.05"} 1');
    expect(text).toContain('mcp_aggregator_routing_duration_seconds_bucket{le="0.1"} 1');
    expect(text).toContain(
      'mcp_aggregator_execution_duration_seconds_bucket{le="1",server="github"} 1',
    );
  });

  it('hands the server’s own error on, and does not repeat the call', async () => {
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

  it('does not repeat what ran out of time', async () => {
    const { pool, call } = routing({ tools: readOnly }, [
      new RequestTimedOut('tools/call', 60_000),
    ]);
    await expect(call()).rejects.toMatchObject({ code: 'EXECUTION_TIMEOUT' });
    expect(pool.sent).toHaveLength(1);
  });

  describe('when the connection is lost', () => {
    it('says that nobody knows whether the tool did its work (EC-003)', async () => {
      const { pool, call } = routing({}, [new ConnectionLost('reset', 'unknown')]);
      await expect(call()).rejects.toMatchObject({
        code: 'SERVER_UNAVAILABLE',
        server: { id: serverIdOf('github'), name: 'github', status: 'CONNECTED' },
        context: { tool: 'github.create', outcome: 'unknown' },
      });
      expect(pool.sent).toHaveLength(1);
    });

    it('repeats what was certainly not executed', async () => {
      const { pool, call } = routing({}, [new ConnectionLost('reset', 'no'), ok]);
      expect((await call()).result.toObject()).toEqual(ok);
      expect(pool).toMatchObject({ acquired: 1, sent: { length: 2 } });
    });

    it.each(['readOnlyHint', 'idempotentHint'])('repeats a tool with %s', async (hint) => {
      const tools = [{ name: 'create', annotations: { [hint]: true } }];
      const { call } = routing({ tools }, [new ConnectionLost('reset', 'unknown'), ok]);
      expect((await call()).result.toObject()).toEqual(ok);
    });

    it('repeats once, not for ever', async () => {
      const lost = new ConnectionLost('reset', 'no');
      const { pool, call } = routing({}, [lost, lost, ok]);
      await expect(call()).rejects.toMatchObject({ context: { outcome: 'not executed' } });
      expect(pool.sent).toHaveLength(2);
    });
  });

  describe('when there is no session', () => {
    it.each(['ERROR', 'CONNECTED', 'DEGRADED', 'CONNECTING'] as const)(
      'tries one of a server that is %s (R15)',
      async (status) => {
        const { pool, call } = routing({ status }, [ok]);
        pool.isOpen = false;
        expect((await call()).result.toObject()).toEqual(ok);
        expect(pool.acquired).toBe(1);
      },
    );

    it('says what the pool says when there is none to be had', async () => {
      const { pool, audit, call } = routing({ status: 'ERROR' }, [ok]);
      pool.isOpen = false;
      pool.acquireError = new ServerUnavailable({ id: '1', name: 'github', status: 'ERROR' });
      await expect(call()).rejects.toBe(pool.acquireError);
      expect(audit).toMatchObject([{ failure: 'SERVER_UNAVAILABLE' }]);
    });
  });
});
