import { McpEndpoint, type McpSurface } from '@app/mcp-server';
import { Drain, UnsentBytes } from '@app/platform';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestEndpoint {
  readonly url: URL;
  readonly endpoint: McpEndpoint;
  readonly unsent: UnsentBytes;
  readonly drain: Drain;
  /** Why connections were cut, in order. */
  readonly cuts: string[];
  readonly post: (message: object, headers?: Record<string, string>) => Promise<Response>;
  readonly handshake: (caller?: string) => Promise<string>;
  /** A standing stream. */
  readonly listen: (session: string, headers?: Record<string, string>) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** An MCP endpoint over HTTP whose callers identify themselves in `x-caller`. */
export async function startEndpoint(
  view: McpSurface,
  limits: { sessions?: number; total?: number; perConnection?: number; stallMs?: number } = {},
): Promise<TestEndpoint> {
  const { sessions = 1_000, total = 2 ** 30, perConnection = 2 ** 30, stallMs = 600_000 } = limits;
  const cuts: string[] = [];
  const unsent = new UnsentBytes({ total, perConnection, stallMs }, ({ reason, principal }) =>
    cuts.push(`${reason} ${principal}`),
  );
  const drain = new Drain();
  const clock = { monotonic: () => performance.now(), now: () => new Date() };
  const endpoint = new McpEndpoint({ max: sessions, idleMs: 600_000 }, clock, { unsent, drain });
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const name = String(request.headers['x-caller'] ?? 'alice');
      const caller = { name, subject: name, ip: null };
      void endpoint.handle(view, { request, response, headers: [] }, body, caller);
    });
  });
  unsent.adopt(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);

  const post = (message: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(message),
    });
  const handshake = async (caller = 'alice'): Promise<string> => {
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const answer = await post(initialize, { 'x-caller': caller });
    await answer.text();
    return answer.headers.get('mcp-session-id') ?? '';
  };
  const listen = (session: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session, ...headers } });
  const close = async (): Promise<void> => {
    endpoint.close();
    unsent.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, endpoint, unsent, drain, cuts, post, handshake, listen, close };
}

/** The messages of an event stream, as received. */
export async function* messagesOf(answer: Response): AsyncGenerator<Record<string, unknown>> {
  for await (const { message } of eventsOf(answer)) yield message;
}

export async function* eventsOf(
  answer: Response,
): AsyncGenerator<{ id: string; message: Record<string, unknown> }> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const part of answer.body ?? []) {
    rest += decoder.decode(part as Uint8Array, { stream: true });
    if (!rest.includes('\n\n')) continue;
    const whole = rest.split('\n\n');
    rest = whole.pop() ?? '';
    for (const event of whole) {
      const [, id = '', data] = /^event: message\n(?:id: (\S+)\n)?data: (.+)$/.exec(event) ?? [];
      if (data !== undefined) {
        yield { id, message: JSON.parse(data) as Record<string, unknown> };
      }
    }
  }
}
