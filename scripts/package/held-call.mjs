import { createServer } from 'node:http';
import { eventually, expect } from './steps.mjs';

/** Longer than a slow machine takes to answer what is held. */
export const GRACE_SECONDS = 60;
/** Of a pod between the end of its grace and SIGKILL, as in the test of the manifests. */
const EXIT_SECONDS = 5;
const ANSWER = 'answered after SIGTERM';

/**
 * Sends SIGTERM to a service while a call runs, which has to be answered, and gives the code that the service ended with.
 * As a container engine does, only to the first process; one that does not end within its grace is killed.
 */
export async function stopDuringCall(service, url, token) {
  const server = await startHoldingServer();
  try {
    const ask = askerOf(url, token);
    await registerServer(ask, server.url);
    const call = ask('/api/v1/tools/call', { name: 'holding.wait', arguments: {} });
    await Promise.race([
      eventually('a call that runs', () => server.isHolding(), service.isRunning),
      call.then(({ status, text }) =>
        expect(server.isHolding(), `the call that was to be held got ${status} ${text}`),
      ),
    ]);
    process.kill(service.pid, 'SIGTERM');
    await eventually('readiness is withdrawn', () => isNotReady(url));
    server.release();
    const { status, text } = await call;
    expect(status === 200 && text.includes(ANSWER), `the call that ran got ${status} ${text}`);
    return await endedInTime(service);
  } finally {
    server.close();
  }
}

function askerOf(url, token) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, body) => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(url + path, { headers, ...sent });
    return { status: answer.status, text: await answer.text() };
  };
}

async function registerServer(ask, url) {
  const { status, text } = await ask('/api/v1/aggregator/servers', {
    name: 'holding',
    transport_type: 'HTTP',
    connection_config: { base_url: url },
  });
  expect(status === 201, `registering a server answered ${status} ${text}`);
  await eventually('the tool of the server', async () => {
    const state = await ask('/api/v1/aggregator/state');
    return JSON.parse(state.text).total_tools === 1;
  });
}

function isNotReady(url) {
  return fetch(`${url}/health/ready`).then(
    ({ ok }) => !ok,
    () => true,
  );
}

async function endedInTime(service) {
  const kill = setTimeout(
    () => void service.stop('SIGKILL'),
    (GRACE_SECONDS + EXIT_SECONDS) * 1_000,
  );
  const code = await service.ended;
  clearTimeout(kill);
  return code;
}

/** An MCP server over HTTP with the tool `wait`, whose calls are answered by `release`. */
async function startHoldingServer() {
  const held = new Map();
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let text = '';
    request.setEncoding('utf8').on('data', (part) => (text += part));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return response.writeHead(202).end();
      if (method === 'tools/call') return held.set(response, id);
      return answer(response, id, outcomeOf(method, params));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    isHolding: () => held.size > 0,
    release: () => {
      for (const [response, id] of held) {
        answer(response, id, { result: { content: [{ type: 'text', text: ANSWER }] } });
      }
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(response, id, outcome) {
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}

function outcomeOf(method, params) {
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'holding', version: '1' },
    },
    ping: {},
    'tools/list': { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] },
  };
  const result = results[method];
  return result ? { result } : { error: { code: -32_601, message: 'Method not found' } };
}
