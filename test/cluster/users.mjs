// Users of every kind, each call with a key of its own that ends in the ledger of the server called. A user knows one
// address only, the balancer's, and begins a new session where MCP says so: after 404.
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { eventsOf, modern, modernHeaders, textOf } from '../faults/service.mjs';

const ANSWER_WITHIN_MS = 15_000;
const SESSION_ERA = '2025-11-25';
const ACCEPT = { accept: 'application/json, text/event-stream' };
const agent = new http.Agent({ keepAlive: true, maxSockets: 1_024 });
const wordFor = (key) => `word for ${key}`;

/** One POST; resolves with `{ status, headers, messages }`, and calls `onMessage` with each message of a stream. */
function post(service, path, body, headers = {}, onMessage = () => undefined) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const request = http.request(service.url + path, {
      method: 'POST',
      agent,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        ...headers,
      },
    });
    request.once('error', reject).end(text);
    request.once('response', (response) => {
      read(response, onMessage).then(
        (messages) => resolve({ status: response.statusCode, headers: response.headers, messages }),
        reject,
      );
    });
  });
}

async function read(response, onMessage) {
  const messages = [];
  if (response.headers['content-type']?.startsWith('text/event-stream')) {
    await eventsOf(response, (message) => {
      messages.push(message);
      onMessage(message);
    });
    return messages;
  }
  const text = await textOf(response);
  if (text) messages.push(...[JSON.parse(text)].flat());
  return messages;
}

/** What a user was told: `ok` with the text of the server, or a failure with the outcome that was claimed. */
const succeeded = (text) => ({ ok: true, said: JSON.parse(text) });
const failed = (why, outcome) => ({ ok: false, why: String(why).slice(0, 200), outcome });

function toldByMcp({ status, messages }, id) {
  // Questions of the service have ids of their own.
  const answer = messages.find((message) => message.id === id && message.method === undefined);
  if (!answer) return failed(`${status} without an answer: ${JSON.stringify(messages.at(-1))}`);
  const { error, result } = answer;
  const text = error?.message ?? result?.content?.[0]?.text ?? JSON.stringify(answer);
  if (!error && !result?.isError) return succeeded(text);
  const claimed = error?.data?.outcome;
  return failed(text, claimed ?? (/not executed/.test(text) ? 'not executed' : undefined));
}

/** `POST /api/v1/tools/call`. */
export class RestUser {
  constructor(service, server, tool) {
    Object.assign(this, { service, server, tool, kind: `REST ${tool}` });
  }

  async call(key) {
    const body = { name: `${this.server}.${this.tool}`, arguments: { key } };
    const { status, messages } = await post(this.service, '/api/v1/tools/call', body);
    const [answer] = messages;
    if (status === 200 && !answer.isError) return succeeded(answer.content[0].text);
    return failed(`${status} ${JSON.stringify(answer)}`, answer?.context?.outcome);
  }
}

/** MCP 2026-07-28: no session; a question is a result, answered by calling again. */
export class StatelessUser {
  constructor(service, server, tool) {
    Object.assign(this, { service, server, tool, kind: `stateless ${tool}` });
  }

  async call(key, heard) {
    const params = {
      name: `${this.server}__${this.tool}`,
      arguments: { key },
      _meta: { progressToken: key },
    };
    for (let more = {}, round = 1; ; round++) {
      const request = {
        id: `${key} ${round}`,
        method: 'tools/call',
        params: { ...params, ...more },
      };
      const body = modern(request, { elicitation: {} });
      const answer = await post(this.service, '/mcp', body, modernHeaders(request), heard);
      const result = answer.messages.find(({ id }) => id === request.id)?.result;
      if (result?.resultType !== 'input_required') return toldByMcp(answer, request.id);
      const { inputRequests, requestState } = result;
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests).map(([name, { params: asked }]) => [
          name,
          { action: 'accept', content: { word: wordFor(asked.message) } },
        ]),
      );
      more = { requestState, inputResponses };
    }
  }
}

/** MCP until 2025-11-25: a session; a question comes on the stream of the call and is answered by a POST. */
export class SessionUser {
  #session;
  #ids = 0;
  restarts = 0;

  constructor(service, server, tool) {
    Object.assign(this, { service, server, tool, kind: `session ${tool}` });
  }

  async call(key, heard) {
    const id = ++this.#ids;
    const params = {
      name: `${this.server}__${this.tool}`,
      arguments: { key },
      _meta: { progressToken: key },
    };
    const request = { jsonrpc: '2.0', id, method: 'tools/call', params };
    for (let attempt = 1; ; attempt++) {
      const session = await (this.#session ??= this.#begin());
      const onMessage = (message) => {
        if (message.method === 'elicitation/create') void this.#reply(session, message);
        else heard(message);
      };
      const answer = await post(this.service, '/mcp', request, session, onMessage);
      if (answer.status !== 404) return toldByMcp(answer, id);
      // The session is unknown and so nothing was executed: begin a new session, as the specification says.
      if (attempt === 3) return failed('404 for a session that was just begun', 'not executed');
      if ((await this.#session) === session) this.#session = undefined;
      this.restarts++;
    }
  }

  async #begin() {
    const params = {
      protocolVersion: SESSION_ERA,
      capabilities: { elicitation: {} },
      clientInfo: { name: 'cluster-suite', version: '1' },
    };
    const message = { jsonrpc: '2.0', id: randomUUID(), method: 'initialize', params };
    try {
      const { status, headers, messages } = await post(this.service, '/mcp', message, ACCEPT);
      const id = headers['mcp-session-id'];
      if (!id) throw new Error(`no session: ${status} ${JSON.stringify(messages)}`);
      const session = { ...ACCEPT, 'mcp-session-id': id, 'mcp-protocol-version': SESSION_ERA };
      const ready = { jsonrpc: '2.0', method: 'notifications/initialized' };
      await post(this.service, '/mcp', ready, session);
      return session;
    } catch (error) {
      this.#session = undefined;
      throw error;
    }
  }

  async #reply(session, { id, params }) {
    const result = { action: 'accept', content: { word: wordFor(params.message) } };
    await post(this.service, '/mcp', { jsonrpc: '2.0', id, result }, session).catch(
      () => undefined,
    );
  }
}

/** Whether the answer is the one to this key. */
export function isOwn(tool, key, said) {
  return said.key === key && (tool !== 'ask' || said.word === wordFor(key));
}
