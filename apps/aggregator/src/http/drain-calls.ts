import { type INestApplicationContext, Logger } from '@nestjs/common';
import { EventStreams } from '@app/activity';
import { McpEndpoint } from '@app/mcp-server';
import { Drain, Leadership, PassingOn } from '@app/platform';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/**
 * Drains before shutdown: refuses new requests (503 with Retry-After) and waits for those in flight, over MCP and REST,
 * while server sessions stay open. At the deadline MCP calls get a JSON-RPC error; REST calls get an error when the
 * sessions close.
 */
export async function drainCalls(app: INestApplicationContext, withinMs: number): Promise<void> {
  const drain = app.get(Drain);
  const endpoint = app.get(McpEndpoint, { strict: false });
  const passing = app.get(PassingOn, { strict: false });
  const running = (): number => {
    const standing = endpoint.standingStreams + passing.standingStreams;
    return Math.max(endpoint.runningCalls, drain.outstanding - standing);
  };
  const leadership = app.get(Leadership, { strict: false });
  // First, so that the next leader starts the STDIO servers while calls end here, and none that drains becomes it; alone,
  // this process leads to its end.
  if (!(await leadership.isAlone())) await leadership.resign();
  drain.begin();
  app.get(EventStreams, { strict: false }).endAll();
  const startedAt = performance.now();
  while (running() > 0 && performance.now() - startedAt < withinMs) await sleep(LOOK_EVERY_MS);
  const interrupted = running();
  endpoint.interruptCalls();
  await leadership.leave();
  const milliseconds = Math.round(performance.now() - startedAt);
  new Logger('switchboard').log({ interrupted, milliseconds }, 'service.drained');
}
