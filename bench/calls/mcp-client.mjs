import { Connection, headerOf, headOf, messageOf, requestOf } from './http-connection.mjs';

const VERSION = '2025-06-18';

/** Each session has its own connection, as clients of a gateway do. */
export async function openSession(url, headers = {}) {
  const connection = new Connection(url);
  const accept = { Accept: 'application/json, text/event-stream', ...headers };
  const params = {
    protocolVersion: VERSION,
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const answer = await connection.ask(requestOf(headOf(url, accept), JSON.stringify(initialize)));
  const message = messageOf(answer);
  if (!message?.result) throw new Error(`initialize: ${answer.status} ${answer.body}`);
  const id = headerOf(answer.head, 'mcp-session-id');
  const session = {
    connection,
    nextId: 1,
    headers: {
      ...accept,
      'Mcp-Protocol-Version': message.result.protocolVersion,
      ...(id && { 'Mcp-Session-Id': id }),
    },
  };
  session.head = headOf(url, session.headers);
  await connection.ask(
    requestOf(session.head, '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
  );
  session.close = async () => {
    const end = requestOf(headOf(url, session.headers, 'DELETE'), '');
    // The session is closed whatever the response is.
    if (id) await connection.ask(end).catch(() => undefined);
    connection.close();
  };
  return session;
}

/** Lists all pages; returns the number of tools, the bytes and the slowest page. */
export async function listTools(session, seen = () => undefined) {
  let cursor;
  const total = { tools: 0, bytes: 0, pages: 0, slowestMs: 0 };
  do {
    const params = JSON.stringify(cursor === undefined ? {} : { cursor });
    const body = `{"jsonrpc":"2.0","id":${session.nextId++},"method":"tools/list","params":${params}}`;
    const sent = performance.now();
    const answer = await session.connection.ask(requestOf(session.head, body));
    total.slowestMs = Math.max(total.slowestMs, performance.now() - sent);
    const { tools, nextCursor } = messageOf(answer).result;
    tools.forEach(seen);
    cursor = nextCursor;
    total.tools += tools.length;
    total.bytes += answer.body.length;
    total.pages += 1;
  } while (cursor !== undefined);
  return total;
}
