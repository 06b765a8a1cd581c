/*
 * node test/faults/isolation.mjs [messages=0] [seconds=45]
 *
 * T8: five users (two MCP sessions, one stateless MCP client, REST, aggregated queries) call servers that mix up their
 * callers, over all three transports at once. Whatever reaches a user has to be his: answers, questions, log messages,
 * progress, roots and updates. Runs for so long, and on until that many messages were checked. Left out is what a server
 * on a stream that all calls share decides alone: progress with the token of another call, and a question after the
 * answer (docs/decisions/0213).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  eventsOf,
  fixture,
  mcpSession,
  modern,
  modernHeaders,
  register,
  row,
  startService,
  stdio,
  textOf,
  TOKENS,
} from './service.mjs';

const RUN_MS = Number(process.argv[3] ?? 45) * 1_000;
const CALL_WITHIN_MS = 20_000;
const LAST_WORDS_MS = 500;
const MAX_STEPS = 24;
const EXAMPLES = 5;
const CAPABILITIES = { elicitation: {}, roots: { listChanged: true } };
const NOTE = 'note://shared';
const NAMES = ['ada', 'bob', 'carol', 'dave', 'eve'];

const ever = ['log', 'own-log', 'progress', 'progress', 'update'];
const onExchange = [...ever, 'own-log', 'progress', 'stray-progress'];
/** Tools that each kind of server is called with; each kind runs over each transport. */
const KINDS = {
  // Do not ask, so that their calls run concurrently.
  talking: { shared: ever, http: onExchange, loops: 4 },
  asking: {
    shared: [...ever, 'question', 'roots'],
    http: [...onExchange, 'question', 'own-question', 'roots'],
    loops: 2,
  },
  // End their session or abandon calls: both change what the service allows them to send.
  lying: { shared: ['twice', 'guess', 'hang'], http: ['cross', 'guess', 'hang'], loops: 1 },
};
const TRANSPORTS = ['stdio', 'sse', 'http'];

const kinds = ['answers', 'questions', 'logs', 'progress', 'roots', 'updates'];
const checked = Object.fromEntries(kinds.map((kind) => [kind, 0]));
const wrong = { ...checked };
const examples = [];
const refusals = new Map();

function check(kind, isRight, user, what) {
  checked[kind]++;
  if (isRight) return;
  wrong[kind]++;
  if (examples.length < EXAMPLES) examples.push(`${kind} at ${user.name}: ${JSON.stringify(what)}`);
}

function refused(why) {
  const text = String(why).replaceAll(/\d+/g, '#').slice(0, 90);
  refusals.set(text, (refusals.get(text) ?? 0) + 1);
}

const pick = (list) => list[Math.floor(Math.random() * list.length)];

function stepsFor(kind, transport) {
  const possible = KINDS[kind][transport === 'http' ? 'http' : 'shared'];
  if (kind === 'lying') return [pick(possible)];
  const steps = Array.from({ length: Math.ceil(Math.random() * MAX_STEPS) }, () => pick(possible));
  // The other calls stay in flight, so that messages can be misdirected.
  if (Math.random() < 0.3) steps.splice(Math.floor(Math.random() * steps.length), 0, 'wait');
  if (transport === 'http' && Math.random() < 0.03) steps.unshift('cross');
  return steps.filter((step, at) => !isQuestion(step) || steps.indexOf(step) === at);
}

const isQuestion = (step) => step.endsWith('question') || step === 'roots';

/** One request on its own connection, which can be cancelled; resolves with its last message. */
function ask(service, path, body, { token, headers, signal, onMessage }) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const request = http.request(service.url + path, {
      method: 'POST',
      agent: service.agent,
      signal: AbortSignal.any([AbortSignal.timeout(CALL_WITHIN_MS), ...(signal ? [signal] : [])]),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        ...headers,
      },
    });
    request.once('error', reject).end(text);
    request.once('response', (response) => {
      lastMessageOf(response, onMessage).then(resolve, reject);
    });
  });
}

async function lastMessageOf(response, onMessage) {
  let last;
  if (response.headers['content-type']?.startsWith('text/event-stream')) {
    await eventsOf(response, (message) => onMessage((last = message)));
  } else {
    const whole = await textOf(response);
    if (whole) onMessage((last = JSON.parse(whole)));
  }
  return last;
}

class User {
  calls = 0;
  late = 0;

  constructor(service, name) {
    this.service = service;
    this.name = name;
    this.token = `${name}-token-of-isolation`;
    const others = NAMES.filter((other) => other !== name);
    this.others = new RegExp(`\\b(?:${others.join('|')})\\b`);
  }

  /** Checks everything that a user receives: it must not contain data of another user. */
  isOwn(message) {
    return !this.others.test(JSON.stringify(message));
  }

  /** The result of a tool call as text. */
  answered(text, n) {
    const said = JSON.parse(text);
    check('answers', said.for === this.name && said.n === n && this.isOwn(said), this, said);
    const { answer, roots, kept } = said;
    if (answer?.startsWith?.('pin')) {
      check('questions', answer === `pin of ${this.name}`, this, said);
    }
    for (const given of [roots, kept]) if (given) check('roots', this.isOwn(given), this, said);
  }

  refused(message) {
    check('answers', this.isOwn(message), this, message);
    refused(message?.error?.message ?? message?.message ?? JSON.stringify(message));
  }

  result({ result, error }, n) {
    const text = result?.content?.[0]?.text;
    if (error || result?.isError) this.refused(error ? { error } : { message: text });
    else this.answered(text, n);
  }

  answerTo({ method, params }) {
    if (method === 'roots/list') {
      checked.roots++;
      return { roots: [{ uri: `file:///${this.name}` }] };
    }
    check('questions', params.message === `for ${this.name}`, this, params);
    return { action: 'accept', content: { pin: `pin of ${this.name}` } };
  }

  /** `tokens`: progress tokens that are valid on this stream. */
  noticed(message, tokens, isSubscribed) {
    const { method, params = {} } = message;
    const own = this.isOwn(message);
    if (method === 'notifications/message') {
      check('logs', own && params.data === `for ${this.name}`, this, message);
    } else if (method === 'notifications/progress') {
      check('progress', own && tokens.includes(params.progressToken), this, message);
    } else if (method === 'notifications/resources/updated') {
      check('updates', isSubscribed && params.uri === NOTE, this, message);
    }
  }
}

/** MCP until 2025-11-25: a session with a standing stream. */
class SessionUser extends User {
  async begin() {
    await this.open('/mcp', false);
    this.session = this.sessions[0];
    const subscribe = { method: 'resources/subscribe', params: { uri: NOTE } };
    // From the correct server that never reports a change.
    await this.send(this.session, { id: 2, ...subscribe });
    const own = await this.open('/mcp/servers/http-talking', true);
    if (this.name === 'ada') await this.send(own, { id: 2, ...subscribe });
  }

  sessions = [];

  async open(path, isSubscribed) {
    const session = await mcpSession(this.service, this.token, path, CAPABILITIES);
    this.sessions.push(session);
    const subscribed = isSubscribed && this.name === 'ada';
    // Progress belongs to the stream of a request, never to the standing stream.
    const receive = (message) => this.receive(session, message, [], subscribed);
    session.stream = await session.get(receive);
    await this.send(session, { id: 1, method: 'logging/setLevel', params: { level: 'debug' } });
    return session;
  }

  send(session, message) {
    return session.post({ jsonrpc: '2.0', ...message });
  }

  receive(session, message, tokens, isSubscribed = false) {
    if (message.method === undefined) return;
    if (message.id === undefined) return this.noticed(message, tokens, isSubscribed);
    void this.send(session, { id: message.id, result: this.answerTo(message) });
  }

  async call(server, tool, n, steps, givesUp) {
    const { session } = this;
    const id = n + 10;
    const progressToken = `${this.name}-${n}`;
    const args = { for: this.name, n, do: steps };
    const params = { name: `${server}__${tool}`, arguments: args, _meta: { progressToken } };
    const request = { jsonrpc: '2.0', id, method: 'tools/call', params };
    const isOver = new AbortController();
    if (givesUp) {
      void sleep(100, undefined, { signal: isOver.signal }).then(
        () => {
          const cancel = { method: 'notifications/cancelled', params: { requestId: id } };
          return this.send(session, cancel);
        },
        () => undefined,
      );
    }
    let answer;
    await ask(this.service, '/mcp', request, {
      token: this.token,
      headers: { ...session.headers, accept: 'application/json, text/event-stream' },
      onMessage: (message) => {
        if (message.method !== undefined) this.receive(session, message, [progressToken]);
        else if (message.id === id) answer = message;
        else check('answers', false, this, message);
      },
    }).finally(() => isOver.abort());
    if (answer) this.result(answer, n);
    else refused('no answer, as it was cancelled');
  }
}

/** MCP 2026-07-28: stateless requests, server requests as results. */
class StatelessUser extends User {
  async call(server, tool, n, steps, givesUp) {
    const signal = givesUp ? AbortSignal.timeout(100) : undefined;
    const progressToken = `${this.name}-${n}`;
    const _meta = { progressToken, 'io.modelcontextprotocol/logLevel': 'debug' };
    const args = { for: this.name, n, do: steps };
    const params = { name: `${server}__${tool}`, arguments: args, _meta };
    for (let more = {}, round = 1; ; round++) {
      const id = `${n}.${round}`;
      const request = { id, method: 'tools/call', params: { ...params, ...more } };
      let answer;
      await ask(this.service, '/mcp', modern(request, CAPABILITIES), {
        token: this.token,
        headers: modernHeaders(request),
        signal,
        onMessage: (message) => {
          if (message.method !== undefined) this.noticed(message, [progressToken], false);
          else if (message.id === id) answer = message;
          else check('answers', false, this, message);
        },
      });
      if (answer?.result?.resultType !== 'input_required') return this.result(answer ?? {}, n);
      const { inputRequests = {}, requestState } = answer.result;
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests).map(([key, question]) => [key, this.answerTo(question)]),
      );
      more = { requestState, inputResponses };
    }
  }
}

class RestUser extends User {
  async call(server, tool, n, steps, givesUp) {
    const signal = givesUp ? AbortSignal.timeout(100) : undefined;
    const body = { name: `${server}.${tool}`, arguments: { for: this.name, n, do: steps } };
    await ask(this.service, '/api/v1/tools/call', body, {
      token: this.token,
      signal,
      onMessage: (answer) => {
        if (answer.content && !answer.isError) this.answered(answer.content[0].text, n);
        else this.refused(answer);
      },
    });
  }
}

/** Queries all servers of a kind concurrently. */
class QueryUser extends User {
  async call(server, _tool, n, steps, givesUp) {
    const signal = givesUp ? AbortSignal.timeout(100) : undefined;
    const kind = server.split('-')[1];
    const servers = TRANSPORTS.map((transport) => `${transport}-${kind}`);
    const query = `for ${this.name} n ${n} do ${steps.filter((step) => step !== 'stray-progress').join()}`;
    await ask(this.service, '/api/v1/aggregator/query', kind ? { query, servers } : { query }, {
      token: this.token,
      signal,
      onMessage: (answer) => {
        for (const { content } of answer.results ?? []) {
          const isAnswer = content.startsWith(`for ${this.name} n ${n}:`);
          check('answers', isAnswer && this.isOwn(content), this, content);
          if (content.includes('"roots"')) check('roots', this.isOwn(content), this, content);
        }
        if (!answer.results?.length) this.refused(answer);
        else if (!this.isOwn(answer)) check('answers', false, this, answer);
      },
    });
  }
}

const USERS = {
  ada: SessionUser,
  bob: SessionUser,
  carol: StatelessUser,
  dave: RestUser,
  eve: QueryUser,
};

async function registerServers(service) {
  await register(service, 'good', {
    transport_type: 'STDIO',
    connection_config: stdio('crossing.mjs', 'stdio'),
  });
  for (const transport of TRANSPORTS) {
    for (const kind of Object.keys(KINDS)) {
      const connection_config =
        transport === 'stdio' ? stdio('crossing.mjs', 'stdio') : await listening(transport);
      const transport_type = transport.toUpperCase();
      await register(service, `${transport}-${kind}`, { transport_type, connection_config });
    }
  }
}

const peers = [];
process.once('exit', () => peers.forEach((peer) => peer.kill('SIGKILL')));

async function listening(transport) {
  const peer = spawn(process.execPath, [fixture('crossing.mjs'), transport], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  peers.push(peer);
  const [url] = await once(createInterface({ input: peer.stdout }), 'line');
  return transport === 'sse' ? { url } : { base_url: url };
}

async function loop(user, kind, isOver) {
  while (!isOver()) {
    const transport = kind === 'good' ? 'stdio' : pick(TRANSPORTS);
    const server = kind === 'good' ? 'good' : `${transport}-${kind}`;
    const steps = kind === 'good' ? [] : stepsFor(kind, user instanceof QueryUser ? '' : transport);
    const tool = kind === 'asking' && Math.random() < 0.1 ? 'kept' : 'work';
    const n = ++user.calls;
    const givesUp = steps[0] === 'hang';
    try {
      await user.call(server, tool, n, steps, givesUp);
    } catch (error) {
      refused(givesUp ? 'given up by its caller' : error);
    }
    if (kind === 'lying' || kind === 'good') await sleep(200);
  }
}

const wanted = Number(process.argv[2] ?? 0);
const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);
const service = await startService({
  env: {
    MCP_AGGREGATOR_TOKENS: [
      `ada-admin:admin:${TOKENS.ada}`,
      ...NAMES.map((name) => `${name}:read+call:${name}-token-of-isolation`),
    ].join(),
    // Queries are queued as calls are: a cancelled one keeps its server from sending requests.
    MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT: '15',
    MCP_AGGREGATOR_QUERY_TIMEOUT: '15',
  },
});
await registerServers(service);
const users = NAMES.map((name) => new USERS[name](service, name));
for (const user of users) await user.begin?.();
const begun = performance.now();
const isOver = () => performance.now() > begun + RUN_MS && sum(checked) >= wanted;
await Promise.all(
  users.flatMap((user) =>
    Object.entries({ ...KINDS, good: { loops: 1 } }).flatMap(([kind, { loops }]) =>
      Array.from({ length: loops }, () => loop(user, kind, isOver)),
    ),
  ),
);
await sleep(LAST_WORDS_MS);
const seconds = (performance.now() - begun) / 1_000;
const isServing = !service.isEnded();
await service.stop();
peers.forEach((peer) => peer.kill('SIGKILL'));

if (process.env.VERBOSE) {
  for (const [why, times] of [...refusals].toSorted((a, b) => b[1] - a[1]).slice(0, 30)) {
    console.error(times, why);
  }
}
for (const example of examples) console.error(example.slice(0, 500));
const detail = kinds.map((kind) => `${wrong[kind]} of ${checked[kind]} ${kind}`).join(', ');
const rate = Math.round(sum(checked) / seconds);
row(
  'T8',
  'messages at the wrong user, hostile servers on three transports',
  '0 of 1,000,000',
  `${sum(wrong)} of ${sum(checked)} at ${rate}/s (${detail})`,
  isServing && sum(wrong) === 0 && kinds.every((kind) => checked[kind] > 0),
);
process.exit();
