// node sdk-gateway.mjs <port> <upstream>: a plain gateway with server and client of the official SDK (v1).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const [port, upstream] = process.argv.slice(2);
const client = new Client({ name: 'gateway', version: '1' }, { capabilities: {} });
await client.connect(new StreamableHTTPClientTransport(new URL(upstream)));
const { tools } = await client.listTools();
const listed = tools.map((tool) => ({ ...tool, name: `up0__${tool.name}` }));
const sessions = new Map();

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  const server = new Server({ name: 'gateway', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listed }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    client.callTool({ name: params.name.slice('up0__'.length), arguments: params.arguments }),
  );
  await server.connect(transport);
  return transport;
}

async function answer(request, response) {
  const transport = sessions.get(request.headers['mcp-session-id']) ?? (await openSession());
  await transport.handleRequest(request, response);
}

const server = createServer((request, response) => void answer(request, response));
server.keepAliveTimeout = 600_000;
server.listen(Number(port), '127.0.0.1');
