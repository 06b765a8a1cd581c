import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

/** MCP servers over HTTP in this process, one per path, with configurable tool lists. */
export class ListingServer {
  /** Names of tools by path; they may change at any time. */
  readonly tools = new Map<string, readonly string[]>();
  /** Further members of tools and prompts, by path and name: `path tool`. */
  readonly members = new Map<string, Readonly<Record<string, unknown>>>();
  readonly prompts = new Map<string, readonly string[]>();
  /** What a server says about itself in the handshake, by path. */
  readonly instructions = new Map<string, string>();
  /** Requests received so far, as `path method`. */
  readonly requests: string[] = [];
  private readonly http = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.http.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/${path}`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      return;
    }
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const path = (request.url ?? '').split('/')[1] ?? '';
    this.requests.push(`${path} ${message.method}`);
    const answer = this.answer(path, message);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
  }

  private answer(path: string, { method, params }: Message): object {
    switch (method) {
      case 'initialize':
        return {
          result: {
            protocolVersion: params?.protocolVersion,
            capabilities: { tools: {}, ...(this.prompts.has(path) && { prompts: {} }) },
            serverInfo: { name: path, version: '1' },
            instructions: this.instructions.get(path),
          },
        };
      case 'ping':
        return { result: {} };
      case 'tools/list':
        return {
          result: { tools: (this.tools.get(path) ?? []).map((name) => this.described(path, name)) },
        };
      case 'prompts/list':
        return {
          result: {
            prompts: (this.prompts.get(path) ?? []).map((name) => ({
              name,
              ...this.members.get(`${path} ${name}`),
            })),
          },
        };
      case 'prompts/get': {
        const isKnown = this.prompts.get(path)?.includes(params?.name ?? '');
        if (!isKnown) return { error: { code: -32_602, message: `${path} has no such prompt` } };
        const content = { type: 'text', text: `${path} ${params?.name}` };
        return { result: { messages: [{ role: 'user', content }] } };
      }
      case 'tools/call':
        return { result: { content: [{ type: 'text', text: `${path} ${params?.name}` }] } };
      default:
        return { error: { code: -32_601, message: 'Method not found' } };
    }
  }

  private described(path: string, name: string): object {
    return {
      name,
      description: `Handles gardening of ${name}`,
      inputSchema: { type: 'object' },
      ...this.members.get(`${path} ${name}`),
    };
  }
}
