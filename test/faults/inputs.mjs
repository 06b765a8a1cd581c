// Inputs of hostile servers and clients, sent one after the other by memory.mjs and loop.mjs. An input is `[name, async
// (service) => …]`; it removes what it registered.
import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  callTool,
  mcpSession,
  modern,
  modernHeaders,
  open,
  postModern,
  register,
  rest,
  stdio,
  textOf,
  TOKENS,
  until,
} from './service.mjs';

const MB = 1_000_000;
const HUGE_BYTES = 9.9 * MB;
/** As objects of 120 bytes per chunk or line, these exceed a heap of 512 MB. */
const TINY_BYTES = 5 * MB;
const EMPTY_DATA_BYTES = 1.5 * MB;
const JUNK_LINES = 60;
const QUERY = '/api/v1/aggregator/query';

/** A client that sends requests and never reads responses. */
export class NonReader {
  constructor(service, token = service.token) {
    this.url = new URL(service.url);
    this.token = token;
    this.socket = connect(Number(this.url.port), this.url.hostname);
    this.socket.pause();
    // A cut connection is reset.
    this.socket.on('error', () => undefined);
  }

  request(method, path, headers, body = '') {
    const all = {
      host: this.url.host,
      authorization: `Bearer ${this.token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  }

  modern(message) {
    this.request('POST', '/mcp', modernHeaders(message), JSON.stringify(modern(message)));
  }

  close() {
    this.socket.destroy();
  }
}

/**
 * An MCP server over HTTP in this process. `tools` and `methods` answer by name: with a result, or by writing to the
 * socket themselves and returning nothing.
 */
export async function startPeer({ tools = {}, methods = {}, capabilities = {} }) {
  const results = {
    initialize: ({ params }) => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {}, ...capabilities },
      serverInfo: { name: 'peer', version: '1' },
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
    }),
    'tools/call': (message, socket) => tools[message.params.name](message, socket),
    ...methods,
  };
  const server = http.createServer((request, response) => {
    request.socket.on('error', () => undefined);
    void textOf(request).then((text) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(text);
      if (message.id === undefined) return response.writeHead(202).end();
      const answer = results[message.method];
      const result = answer?.(message, response.socket);
      if (answer && !result) return undefined;
      const error = { code: -32_601, message: 'Method not found' };
      const outcome = answer ? { result } : { error };
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Registers servers, runs the work, removes them. `servers` maps a name to a peer or to a connection_config for STDIO.
 */
async function withServers(service, servers, work) {
  const ids = [];
  try {
    for (const [name, server] of Object.entries(servers)) {
      const { url, config, tools } = server;
      const connection_config = config ?? { base_url: url };
      const transport_type = config ? 'STDIO' : 'HTTP';
      ids.push(await register(service, name, { transport_type, connection_config, tools }));
    }
    return await work();
  } finally {
    for (const id of ids) await rest(service, 'DELETE', `/api/v1/aggregator/servers/${id}`);
    for (const server of Object.values(servers)) server.close?.();
  }
}

const says = (text) => ({ content: [{ type: 'text', text }] });
const answerText = (id, bytes) =>
  JSON.stringify({ jsonrpc: '2.0', id, result: says('x'.repeat(bytes)) });

/** Writes the body in chunked encoding, one byte per chunk. */
function writeTiny(socket, type, text) {
  const bytes = Buffer.from(text);
  const chunks = Buffer.alloc(bytes.length * 6, '1\r\nx\r\n');
  for (let i = 0; i < bytes.length; i++) chunks[i * 6 + 3] = bytes[i];
  socket.write(rawHead(type, 'transfer-encoding: chunked'));
  socket.write(chunks);
  socket.end('0\r\n\r\n');
}

const rawHead = (type, framing) =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${framing}\r\nconnection: close\r\n\r\n`;

const tinyJson = async (service) => {
  const tiny = ({ id }, socket) =>
    writeTiny(socket, 'application/json', answerText(id, TINY_BYTES));
  const peer = await startPeer({ tools: { tiny } });
  await withServers(service, { tiny: peer }, () => callOverMcp(service, 'tiny__tiny'));
};

const tinyEvents = async (service) => {
  const tiny = ({ id }, socket) =>
    writeTiny(socket, 'text/event-stream', `data: ${answerText(id, TINY_BYTES)}\n\n`);
  const peer = await startPeer({ tools: { tiny } });
  await withServers(service, { events: peer }, () => callOverRest(service, 'events.tiny'));
};

/** The input must be accepted: another refusal would make the test pass without testing anything. */
async function callOverRest(service, name, args = {}, expected = 200) {
  const { status, body } = await callTool(service, name, args);
  if (status !== expected)
    throw new Error(`${name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
}

async function callOverMcp(service, name) {
  const call = { id: 1, method: 'tools/call', params: { name, arguments: {} } };
  const { message } = await postModern(service, call);
  if (!message?.result || message.result.isError)
    throw new Error(`${name}: ${JSON.stringify(message).slice(0, 200)}`);
}

const emptyData = async (service) => {
  const lines = Buffer.alloc(EMPTY_DATA_BYTES, 'data:\n');
  const empty = (_, socket) => {
    socket.write(rawHead('text/event-stream', 'cache-control: no-cache'));
    socket.end(lines);
  };
  const peer = await startPeer({ tools: { empty } });
  await withServers(service, { empty: peer }, () =>
    Promise.all(Array.from({ length: 20 }, () => callOverRest(service, 'empty.empty', {}, 503))),
  );
};

const members = async (service) => {
  const text = Array.from({ length: 700_000 }, (_, i) => `"m${i}":1`).join();
  const large = ({ id }, socket) => {
    const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{${text}}}}`;
    socket.write(rawHead('application/json', `content-length: ${body.length}`));
    socket.end(body);
  };
  const peer = await startPeer({ tools: { large } });
  await withServers(service, { members: peer }, () => callOverMcp(service, 'members__large'));
};

/** The largest number of members, and then of values, in ten megabytes. */
const tinyValues = async (service) => {
  const answering =
    (result) =>
    ({ id }, socket) => {
      const body = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
      socket.write(rawHead('application/json', `content-length: ${body.length}`));
      socket.end(body);
    };
  const peer = await startPeer({
    tools: {
      members: answering(`{"content":[],${'"":1,'.repeat(950_000)}"a":1}`),
      values: answering(`{"content":[${'1,'.repeat(4_800_000)}1]}`),
    },
  });
  await withServers(service, { tiny: peer }, async () => {
    await callOverMcp(service, 'tiny__members');
    await callOverRest(service, 'tiny.values', {}, 502);
  });
};

/** Credentials in plain text and encoded, each in a response that holds little else. */
const echoes = async (service) => {
  for (const secret of ['canary-7f3a9c21', 'can ary-7f3a9c21']) {
    const filler = 'x'.repeat(9_000);
    const text = `${secret} ${filler}`;
    const answer = { content: Array.from({ length: 1_000 }, () => ({ type: 'text', text })) };
    const peer = await startPeer({ tools: { echo: () => answer } });
    const connection_config = { base_url: peer.url, headers: { 'x-key': secret } };
    const id = await register(service, 'echoes', { transport_type: 'HTTP', connection_config });
    await callTool(service, 'echoes.echo', {});
    await rest(service, 'DELETE', `/api/v1/aggregator/servers/${id}`);
    peer.close();
  }
};

const noisyProcess = async (service) => {
  const config = { command: process.execPath, args: ['-e', NOISY_SERVER] };
  await withServers(service, { noisy: { config } }, () => callOverRest(service, 'noisy.log'));
};

/** A parser that does not recurse reads it, a writer that does overflows its stack. */
const deepMessages = async (service) => {
  const config = { command: process.execPath, args: ['-e', DEEP_SERVER] };
  await withServers(service, { deep: { config } }, () => callOverRest(service, 'deep.log'));
};

const unreadLogs = async (service) => {
  const readers = [];
  const config = { command: process.execPath, args: ['-e', LOGGING_SERVER] };
  try {
    await withServers(service, { logging: { config } }, async () => {
      const setLevel = { id: 1, method: 'logging/setLevel', params: { level: 'debug' } };
      for (let i = 0; i < 100; i++) {
        const session = await mcpSession(service);
        await session.post({ jsonrpc: '2.0', ...setLevel });
        const reader = new NonReader(service);
        reader.request('GET', '/mcp', { accept: 'text/event-stream', ...session.headers });
        readers.push(reader);
      }
      await callOverRest(service, 'logging.log');
    });
  } finally {
    for (const reader of readers) reader.close();
  }
};

/** A server over STDIO with one tool, `log`, which runs the given steps before it answers. */
const stdioServer = (log) => `
const { writeSync } = require('node:fs');
const { createInterface } = require('node:readline');
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'l', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'log', inputSchema: { type: 'object' } }] }),
  'logging/setLevel': () => ({}),
  'tools/call': () => {
    ${log}
    return { content: [] };
  },
};
const say = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
const write = (line) => {
  let left = Buffer.from(line + '\\n');
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left, 0, Math.min(left.length, 65536)));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const error = { code: -32601, message: 'Method not found' };
  say({ id, ...(results[method] ? { result: results[method](params) } : { error }) });
});`;

/** Not related to any request. */
const LOGGING_SERVER = stdioServer(`
  const params = { level: 'error', data: 'x'.repeat(1_000_000) };
  for (let i = 0; i < 49; i++) say({ method: 'notifications/message', params });`);
const DEEP_SERVER = stdioServer(`
  const deep = '['.repeat(8_000) + ']'.repeat(8_000);
  for (const method of ['message', 'progress', 'cancelled', 'resources/updated'])
    write('{"jsonrpc":"2.0","method":"notifications/' + method + '","params":{"data":' + deep + '}}');`);
const NOISY_SERVER = stdioServer(`
  for (let i = 0; i < ${JUNK_LINES}; i++) write('x'.repeat(${HUGE_BYTES}));`);

const unreadAnswers = async (service) => {
  const peer = await startPeer({ tools: { large: () => says('x'.repeat(9 * MB)) } });
  await withServers(service, { large: peer }, () =>
    unread(service, 60, (reader, i) => {
      const params = { name: 'large__large', arguments: {} };
      if (i % 2 === 0) reader.modern({ id: i, method: 'tools/call', params });
      else
        reader.request('POST', '/api/v1/tools/call', {}, '{"name":"large.large","arguments":{}}');
    }),
  );
};

const unreadLists = async (service) => {
  const resources = Array.from({ length: 10_000 }, (_, i) => ({
    uri: `file:///${i}`,
    name: `resource ${i}`,
    description: 'x'.repeat(2_500),
  }));
  const peer = await startPeer({
    capabilities: { resources: {} },
    methods: { 'resources/list': () => ({ resources }) },
    tools: { idle: () => says('idle') },
  });
  await withServers(service, { resources: peer }, () =>
    unread(service, 40, (reader, id) =>
      reader.modern({ id, method: 'resources/list', params: {} }),
    ),
  );
};

/** Starts this many clients that send concurrently, and disconnects them later without reading. */
async function unread(service, count, send) {
  const readers = Array.from({ length: count }, () => new NonReader(service));
  readers.forEach(send);
  await sleep(3_000);
  for (const reader of readers) reader.close();
}

const longTexts = async (service) => {
  const kinds = ['prose', 'blocks', 'members'];
  const servers = Object.fromEntries(
    kinds.map((kind) => [kind, { config: stdio('long-answers.mjs', kind) }]),
  );
  await withServers(service, servers, async () => {
    for (const kind of kinds) {
      await rest(service, 'POST', QUERY, { query: 'where is the fox', servers: [kind] });
    }
  });
};

const manyKeys = async (service) => {
  const keys = Array.from({ length: 330_000 }, (_, i) => `"k${i}":1`).join();
  for (const path of ['/api/v1/search', QUERY, '/mcp', '/api/v1/tools/call']) {
    const { status } = await rest(service, 'POST', path, `{${keys}}`, TOKENS.reader);
    if (status < 400 || status >= 500) throw new Error(`${path} answers with ${status}`);
  }
  const few = keys.slice(0, 60_000);
  const body = `{"query":"fox",${few.slice(0, few.lastIndexOf(','))}}`;
  await rest(service, 'POST', '/api/v1/search', body, TOKENS.reader);
};

const manyNames = async (service) => {
  const servers = Array.from({ length: 190_000 }, (_, i) => `s${i}`);
  const args = { query: 'fox', servers };
  await rest(service, 'POST', QUERY, args);
  const params = { name: 'mcp__proxy__aggregator__query', arguments: args };
  await postModern(service, { id: 1, method: 'tools/call', params });
};

const batches = async (service) => {
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
  const accept = 'application/json, text/event-stream';
  const begun = await open(service, 'POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
    headers: { accept },
  });
  await textOf(begun);
  const headers = { accept, 'mcp-session-id': begun.headers['mcp-session-id'] };
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const [count, message] of [
    [100, list],
    [150_000, { id: 1 }],
    [100, ping],
    [100_000, ping],
  ]) {
    const body = JSON.stringify(Array(count).fill(message));
    await textOf(await open(service, 'POST', '/mcp', { body, headers }));
  }
};

const manySessions = async (service) => {
  const bystander = await mcpSession(service, TOKENS.bob);
  for (let i = 0; i < 2_000; i += 20) {
    await Promise.all(Array.from({ length: 20 }, () => mcpSession(service, TOKENS.eve)));
  }
  const { status } = await bystander.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
  if (status !== 200) throw new Error(`the session of another user is answered with ${status}`);
};

const listens = async (service) => {
  const config = stdio('offers.mjs', 'name=offers', 'file:///notes', 'file:///{+path}');
  await withServers(service, { offers: { config } }, async () => {
    const uris = Array.from({ length: 150_000 }, (_, i) => `file:///${i}`);
    await postModern(service, listenTo(uris));
    for (let i = 0; i < 500; i++) {
      const reader = new NonReader(service, TOKENS.eve);
      reader.modern(listenTo(uris.slice(0, 20)));
      setTimeout(() => reader.close(), (i % 10) * 3);
      if (i % 50 === 0) await sleep(50);
    }
    await sleep(500);
    const stream = await listening(service, TOKENS.bob);
    stream.destroy();
  });
};

const listenTo = (resourceSubscriptions) => ({
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(resourceSubscriptions && { resourceSubscriptions }),
    },
  },
});

async function listening(service, token) {
  const message = listenTo();
  const response = await open(service, 'POST', '/mcp', {
    body: modern(message),
    headers: modernHeaders(message),
    token,
    agent: false,
  });
  if (response.statusCode !== 200) throw new Error(`listen is answered ${response.statusCode}`);
  return response.on('error', () => undefined).resume();
}

const storm = async (service) => {
  const config = stdio('offers.mjs', 'name=storming', 'file:///notes');
  const streams = [];
  await withServers(service, { storming: { config } }, async () => {
    for (let i = 0; i < 100; i++) {
      streams.push(await listening(service, TOKENS.ada));
      const session = await mcpSession(service, TOKENS.bob);
      streams.push((await session.get()).response);
    }
    await callOverRest(service, 'storming.storm', { count: 3_240 });
  });
  for (const stream of streams) stream.destroy();
};

const hugeLists = async (service) => {
  let page = 0;
  const description = 'x'.repeat(9 * MB);
  const tool = () => ({ name: `tool-${page++}`, description, inputSchema: { type: 'object' } });
  const list = () => ({ tools: [tool()], nextCursor: String(page) });
  const peers = await Promise.all(
    [1, 2, 3].map(() => startPeer({ methods: { 'tools/list': list } })),
  );
  const ids = [];
  for (const [i, { url }] of peers.entries()) {
    const connection_config = { base_url: url };
    const body = { name: `pages-${i}`, transport_type: 'HTTP', connection_config };
    ids.push((await rest(service, 'POST', '/api/v1/aggregator/servers', body)).body.id);
  }
  await until(() => page >= 9, 'pages are asked for', 10_000).catch(() => undefined);
  await sleep(2_000);
  for (const id of ids) await rest(service, 'DELETE', `/api/v1/aggregator/servers/${id}`);
  for (const peer of peers) peer.close();
};

export const inputs = [
  ['one-byte chunks of JSON', tinyJson],
  ['one-byte chunks of events', tinyEvents],
  ['events of empty data', emptyData],
  ['700,000 members in an answer', members],
  ['millions of values in an answer', tinyValues],
  ['a thousand echoes of a credential', echoes],
  ['60 lines of 9.9 MB that are no messages', noisyProcess],
  ['messages of 8,000 levels', deepMessages],
  ['49 MB of logs to 100 clients that do not read', unreadLogs],
  ['60 answers of 9 MB that are not read', unreadAnswers],
  ['40 lists of 10,000 resources that are not read', unreadLists],
  ['long answers to a query', longTexts],
  ['330,000 unknown keys', manyKeys],
  ['1.9 MB of server names', manyNames],
  ['batches', batches],
  ['2,000 sessions of one user', manySessions],
  ['150,000 URIs, and 500 streams given up early', listens],
  ['9,720 notifications of changed lists', storm],
  ['lists of tools in pages of 9 MB', hugeLists],
];
