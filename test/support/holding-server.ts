import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HoldingServer {
  readonly url: string;
  /** Calls that were received and not answered yet. */
  readonly held: () => number;
  /** Answers them. */
  readonly release: (text?: string) => void;
  readonly close: () => void;
}

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** An MCP server over HTTP with one tool, `wait`, whose calls are answered on request of the test. */
export async function startHoldingServer(): Promise<HoldingServer> {
  const held = new Map<ServerResponse, unknown>();
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(text) as Message;
      if (message.id === undefined) return response.writeHead(202).end();
      if (message.method !== 'tools/call') return answer(response, message.id, resultOf(message));
      held.set(response, message.id);
      return response.once('close', () => held.delete(response));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    held: () => held.size,
    release: (text = 'done') => {
      for (const [response, id] of held) {
        answer(response, id, { content: [{ type: 'text', text }] });
      }
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(response: ServerResponse, id: unknown, result: object | undefined): void {
  const outcome = result ? { result } : { error: { code: -32_601, message: 'Method not found' } };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}

function resultOf({ method, params }: Message): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'holding', version: '1' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] };
    default:
      return undefined;
  }
}
