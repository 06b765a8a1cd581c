import { connectUpstream, type UpstreamSession } from '@app/mcp-client';
import { UpstreamRpcError, wireName } from '@app/mcp-protocol';
import type { JsonObject, JsonValue } from '@app/platform';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway.js';
import { npmServers } from '../support/peers.js';

/**
 * Compares the reference servers used directly and through `/mcp`: the results are equal byte for byte, except for
 * names that must differ and creation times of files. Tools that ask the client get the same answers both ways.
 */
type Answer = { result: JsonObject } | { error: { code: number; message: string } };
type Ask = (server: string, method: string, params: JsonObject) => Promise<Answer>;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const files = (): string => join(folder.path, 'files');
const graph = (): string => join(folder.path, 'memory.json');

const call = (server: string, name: string, args: JsonObject = {}) =>
  [server, 'tools/call', { name, arguments: args }] as const;

const steps = (): (readonly [string, string, JsonObject])[] => {
  const file = (name: string): string => join(files(), name);
  const ada = { name: 'Ada', entityType: 'person', observations: ['wrote programs'] };
  const knows = { from: 'Ada', to: 'Charles', relationType: 'knows' };
  return [
    call('everything', 'echo', { message: 'hällo "world" \u2028 🌍' }),
    call('everything', 'get-annotated-message', { messageType: 'error', includeImage: true }),
    call('everything', 'get-env'),
    call('everything', 'get-resource-links', { count: 2 }),
    call('everything', 'get-resource-reference', { resourceType: 'Blob', resourceId: 1 }),
    call('everything', 'get-structured-content', { location: 'Chicago' }),
    call('everything', 'get-sum', { a: 0.1, b: 0.2 }),
    call('everything', 'get-sum', { a: 'no number' }),
    call('everything', 'get-tiny-image'),
    call('everything', 'gzip-file-as-resource', { name: 'x.gz', data: 'data:text/plain,hello' }),
    call('everything', 'trigger-long-running-operation', { duration: 0.1, steps: 2 }),
    call('everything', 'simulate-research-query', { topic: 'fidelity' }),
    call('everything', 'get-roots-list'),
    call('everything', 'trigger-sampling-request', { prompt: 'hello', maxTokens: 5 }),
    call('everything', 'trigger-elicitation-request'),
    call('everything', 'toggle-simulated-logging'),
    call('everything', 'toggle-simulated-logging'),
    call('everything', 'toggle-subscriber-updates'),
    call('everything', 'toggle-subscriber-updates'),
    ['everything', 'prompts/get', { name: 'simple-prompt' }],
    ['everything', 'prompts/get', { name: 'args-prompt', arguments: { city: 'Paris' } }],
    ['everything', 'prompts/get', { name: 'args-prompt' }],
    [
      'everything',
      'prompts/get',
      { name: 'resource-prompt', arguments: { resourceType: 'Text', resourceId: '1' } },
    ],
    [
      'everything',
      'completion/complete',
      {
        ref: { type: 'ref/prompt', name: 'completable-prompt' },
        argument: { name: 'department', value: 'E' },
      },
    ],
    ['everything', 'resources/read', { uri: 'demo://resource/static/document/architecture.md' }],
    ['everything', 'resources/read', { uri: 'demo://resource/dynamic/blob/1' }],
    ['everything', 'resources/read', { uri: 'demo://resource/dynamic/text/none' }],
    call('filesystem', 'list_allowed_directories'),
    call('filesystem', 'write_file', { path: file('b.txt'), content: 'one\ntwo\nthree\n' }),
    call('filesystem', 'read_file', { path: file('b.txt') }),
    call('filesystem', 'read_text_file', { path: file('b.txt'), head: 1 }),
    call('filesystem', 'read_media_file', { path: file('a.png') }),
    call('filesystem', 'read_multiple_files', { paths: [file('b.txt'), file('none')] }),
    call('filesystem', 'edit_file', {
      path: file('b.txt'),
      edits: [{ oldText: 'two', newText: 'zwei' }],
    }),
    call('filesystem', 'create_directory', { path: file('sub') }),
    call('filesystem', 'move_file', { source: file('b.txt'), destination: file('sub/c.txt') }),
    call('filesystem', 'list_directory', { path: files() }),
    call('filesystem', 'list_directory_with_sizes', { path: files() }),
    call('filesystem', 'directory_tree', { path: files() }),
    call('filesystem', 'search_files', { path: files(), pattern: '**/*.txt' }),
    call('filesystem', 'get_file_info', { path: file('sub/c.txt') }),
    call('filesystem', 'read_file', { path: '/etc/passwd' }),
    call('memory', 'create_entities', { entities: [ada, { ...ada, name: 'Charles' }] }),
    call('memory', 'create_relations', { relations: [knows] }),
    call('memory', 'add_observations', {
      observations: [{ entityName: 'Ada', contents: ['liked numbers'] }],
    }),
    call('memory', 'search_nodes', { query: 'numbers' }),
    call('memory', 'open_nodes', { names: ['Ada'] }),
    ['memory', 'resources/read', { uri: 'memory://knowledge-graph' }],
    call('memory', 'delete_observations', {
      deletions: [{ entityName: 'Ada', observations: ['wrote programs'] }],
    }),
    call('memory', 'delete_relations', { relations: [knows] }),
    call('memory', 'delete_entities', { entityNames: ['Charles'] }),
    call('memory', 'read_graph'),
    call('memory', 'add_observations', { observations: [{ entityName: 'Missing', contents: [] }] }),
  ];
};

const targets = () => ({
  everything: npmServers.everything(),
  filesystem: npmServers.filesystem(files()),
  memory: npmServers.memory(graph()),
});

const capabilities = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

/** Answers of the client in both cases. */
function answerTo(method: string): JsonObject {
  switch (method) {
    case 'roots/list':
      return { roots: [{ uri: `file://${files()}`, name: 'files' }] };
    case 'sampling/createMessage':
      return {
        role: 'assistant',
        content: { type: 'text', text: 'hällo "world"' },
        model: 'a model',
        stopReason: 'endTurn',
      };
    case 'elicitation/create':
      return { action: 'accept', content: { name: 'Ada', check: true, number: 0.1 } };
    default:
      throw new Error(`unexpected request ${method}`);
  }
}

/** Added to the list by the aggregator itself. */
const OWN_TOOL = 'mcp__proxy__aggregator__query';

const lists = [
  ['tools/list', 'tools', 'name'],
  ['prompts/list', 'prompts', 'name'],
  ['resources/list', 'resources', 'uri'],
  ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
] as const;

interface Record {
  readonly answers: Answer[];
  /** Every listed item of every server, by kind and name. */
  readonly listed: { [kind: string]: unknown[] };
}

async function reset(): Promise<void> {
  await rm(files(), { recursive: true, force: true });
  await rm(graph(), { force: true });
  await mkdir(files());
  await writeFile(join(files(), 'a.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
}

/** Created separately for each of the two, so these always differ. */
const withoutTimes = (text: string): string =>
  text
    .replace(/"blob":"([^"]+)"/g, (_, blob: string) =>
      Buffer.from(blob, 'base64').toString('latin1'),
    )
    .replace(/(created|modified|accessed): [^\\]+/g, '$1: …')
    .replace(/created at \d+:\d+:\d+ [AP]M/g, 'created at …');

async function directly(): Promise<Record> {
  await reset();
  const sessions = new Map<string, UpstreamSession>();
  for (const [name, target] of Object.entries(targets())) {
    const session = await connectUpstream(target, {
      connectTimeoutMs: 60_000,
      maxAnswerBytes: 10_000_000,
      clientInfo: { name: 'switchboard-test', version: '0' },
      clientCapabilities: capabilities,
      allowInsecureHttp: false,
    });
    session.setRootsProvider(async () => ({ result: answerTo('roots/list'), principal: 'direct' }));
    sessions.set(name, session);
  }
  const ask: Ask = async (server, method, params) => {
    const session = sessions.get(server);
    if (!session) throw new Error(server);
    try {
      const options = {
        timeoutMs: 60_000,
        caller: { principal: 'direct', client: session },
        onServerRequest: async (asked: string) => answerTo(asked),
      };
      return { result: await session.request(method, params, options) };
    } catch (error) {
      if (!(error instanceof UpstreamRpcError)) throw error;
      return { error: { code: error.rpc.code, message: error.rpc.message } };
    }
  };
  const answers = await walk(ask);
  const listed: Record['listed'] = {};
  for (const [method, kind, key] of lists) {
    const all = await Promise.all(
      [...sessions].map(async ([server, session]) => {
        const family = kind === 'resourceTemplates' ? 'resources' : kind;
        if (!session.capabilities[family]) return [];
        const answer = await ask(server, method, {});
        const items = 'result' in answer ? answer.result[kind] : [];
        return (items as JsonObject[]).map((item) =>
          key === 'name' ? { ...item, name: wireName(server, textOf(item['name'])) } : item,
        );
      }),
    );
    listed[kind] = sorted(all.flat(), key);
  }
  await Promise.all([...sessions.values()].map((session) => session.close({ force: true })));
  return { answers, listed };
}

async function through(): Promise<Record> {
  await reset();
  const gateway = await startGateway(targets());
  const headers: { [name: string]: string } = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  let id = 0;
  const send = async (message: JsonObject): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const answer = await fetch(`${gateway.origin}/mcp`, { method: 'POST', headers, body });
    const session = answer.headers.get('mcp-session-id');
    if (session) headers['mcp-session-id'] = session;
    return answer;
  };
  /** Answers server requests; passes other messages on. */
  const read = async (answer: Response): Promise<Answer | undefined> => {
    let last: Answer | undefined;
    for await (const message of messagesIn(answer)) {
      const { method, id: question } = message;
      if (typeof method !== 'string') last = message as unknown as Answer;
      else if (question !== undefined) await send({ id: question, result: answerTo(method) });
    }
    return last;
  };
  const post = async (method: string, params: JsonObject): Promise<Answer> => {
    const message = await read(await send({ id: ++id, method, params }));
    if (!message) throw new Error(`no answer to ${method}`);
    return 'result' in message
      ? { result: message.result }
      : { error: { code: message.error.code, message: message.error.message } };
  };
  await post('initialize', {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'test', version: '0' },
  });
  await send({ method: 'notifications/initialized' });
  const leaving = new AbortController();
  const listening = fetch(`${gateway.origin}/mcp`, { headers, signal: leaving.signal })
    .then(read)
    .catch(() => undefined);
  // The server asks once after its start, and listens for changes only some time later.
  await eventually(async () => {
    await send({ method: 'notifications/roots/list_changed' });
    const answer = await post('tools/call', { name: 'everything__get-roots-list', arguments: {} });
    expect(JSON.stringify(answer)).toContain('1 total');
  });
  await eventually(async () => {
    expect(JSON.stringify(await post('prompts/list', {}))).toContain('everything__simple-prompt');
    expect(JSON.stringify(await post('resources/list', {}))).toContain('memory://');
  });
  const answers = await walk((server, method, params) => {
    const ref = params['ref'];
    const renamed =
      typeof ref === 'object' && ref !== null && !Array.isArray(ref)
        ? { ref: { ...ref, name: wireName(server, textOf(ref['name'])) } }
        : typeof params['name'] === 'string'
          ? { name: wireName(server, params['name']) }
          : {};
    return post(method, { ...params, ...renamed });
  });
  const listed: Record['listed'] = {};
  for (const [method, kind, key] of lists) {
    const answer = await post(method, {});
    const items = 'result' in answer ? (answer.result[kind] as JsonObject[]) : [];
    listed[kind] = sorted(
      items.filter((item) => item['name'] !== OWN_TOOL),
      key,
    );
  }
  leaving.abort();
  await listening;
  await gateway.close();
  return { answers, listed };
}

/** A JSON body is one message, an event stream several. */
async function* messagesIn(answer: Response): AsyncGenerator<JsonObject> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part as Uint8Array, { stream: true });
    const events = isStream ? text.split('\n\n') : [];
    text = events.pop() ?? text;
    for (const event of events) {
      // A text in it may have U+2028, which `.` and `$` take for the end of a line.
      const data = /^data: ([^\n]+)/m.exec(event)?.[1];
      if (data) yield JSON.parse(data) as JsonObject;
    }
  }
  if (!isStream && text !== '') yield JSON.parse(text) as JsonObject;
}

async function walk(ask: Ask): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const [server, method, params] of steps()) answers.push(await ask(server, method, params));
  return answers;
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new Error('a name must be a string');
  return value;
}

function sorted(items: readonly JsonObject[], key: string): JsonObject[] {
  const keyOf = (item: JsonObject): string => JSON.stringify(item[key]);
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

describe('the answers of the reference servers through /mcp', () => {
  let direct: Record;
  let gateway: Record;

  beforeAll(async () => {
    folder = await temporaryFolder();
    direct = await directly();
    gateway = await through();
  });
  afterAll(() => folder.remove());

  it('equal their direct answers byte for byte', () => {
    steps().forEach(([server, method, params], i) => {
      const step = `${server} ${method} ${JSON.stringify(params)}\n`;
      expect(step + withoutTimes(JSON.stringify(gateway.answers[i]))).toBe(
        step + withoutTimes(JSON.stringify(direct.answers[i])),
      );
    });
  });

  it.each(lists.map(([, kind]) => kind))('is the same in the list of %s', (kind) => {
    expect(direct.listed[kind]?.length).toBeGreaterThan(0);
    expect(gateway.listed[kind]).toEqual(direct.listed[kind]);
  });
});
