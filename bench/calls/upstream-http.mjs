// node upstream-http.mjs <port> <tools> [page]: a minimal server, so that it is never the bottleneck.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { callResult, echoTools, initializeResult } from './upstream-tools.mjs';

const [port, count, page = count] = process.argv.slice(2).map(Number);
const tools = echoTools(count);
const pages = [];
for (let start = 0; start < count; start += page) {
  const end = start + page;
  pages.push(
    JSON.stringify({
      tools: tools.slice(start, end),
      ...(end < count && { nextCursor: String(pages.length + 1) }),
    }),
  );
}

function resultOf({ method, params }) {
  switch (method) {
    case 'tools/call':
      return callResult(params);
    case 'tools/list':
      return pages[Number(params?.cursor ?? 0)];
    case 'initialize':
      return JSON.stringify(initializeResult);
    case 'ping':
      return '{}';
    default:
      return undefined;
  }
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    return;
  }
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const message = JSON.parse(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = resultOf(message);
    const outcome =
      result === undefined
        ? '"error":{"code":-32601,"message":"Method not found"}'
        : `"result":${result}`;
    const body = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},${outcome}}`;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(message.method === 'initialize' && { 'mcp-session-id': randomUUID() }),
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(port, '127.0.0.1');
