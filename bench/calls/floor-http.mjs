// node floor-http.mjs <port> <upstream>: node:http as server, undici as client. MCP at /mcp, REST at all other paths.
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { openSession } from './mcp-client.mjs';
import { callBody, passThrough } from './pass-through.mjs';
import { upstreamTools } from './upstream-list.mjs';

const [port, upstream] = process.argv.slice(2);
const { origin, pathname } = new URL(upstream);
const session = await openSession(upstream);
const tools = await upstreamTools(session);
const headers = { ...session.headers, 'content-type': 'application/json' };
session.connection.close();
const pool = new Pool(origin, { connections: 256, pipelining: 1, keepAliveTimeout: 60_000 });
let nextId = 100_000;

const gateway = passThrough(tools, (name, input, done) => {
  const id = nextId++;
  const parts = [];
  const request = { path: pathname, method: 'POST', headers, body: callBody(id, name, input) };
  pool.dispatch(request, {
    onConnect() {},
    onHeaders: () => true,
    onData: (part) => parts.push(part) > 0,
    onComplete: () => done(undefined, parts.length === 1 ? parts[0] : Buffer.concat(parts), id),
    onError: done,
  });
});

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405, { 'content-length': 0 }).end();
    return;
  }
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const message = JSON.parse((parts.length === 1 ? parts[0] : Buffer.concat(parts)).toString());
    const reply = (status, headers, body = '') => {
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
      response.end(body);
    };
    if (request.url === '/mcp') gateway.mcp(message, reply);
    else gateway.rest(message, reply);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(port), '127.0.0.1');
