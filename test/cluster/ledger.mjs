// A server that writes down what it executed: node ledger.mjs stdio|http <file>
// Tools, each with a `key`: `add` appends the key to the file and answers with it and with the id of this run, and
// how many keys it has taken; `steps` reports progress three times before; `ask` asks its caller for a word first.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';

const [kind, file] = process.argv.slice(2);
const STEPS = 3;
const tools = ['add', 'steps', 'ask'].map((name) => ({
  name,
  description: `Writes a key into the ledger (${name})`,
  inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
}));
const questions = new Map();
const self = randomUUID();
let taken = 0;

/** Handles one message; `send` writes messages about it, the last with `isLast`. */
async function receive(message, send) {
  const { id, method, params = {} } = message;
  if (method === undefined) return questions.get(id)?.(message.result);
  if (id === undefined) return undefined;
  const answer = (result) => send({ jsonrpc: '2.0', id, result }, true);
  switch (method) {
    case 'initialize':
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'ledger', version: '1' },
      });
    case 'ping':
      return answer({});
    case 'tools/list':
      return answer({ tools });
    case 'tools/call':
      return answer(await call(params, send));
    default:
      return send(
        { jsonrpc: '2.0', id, error: { code: -32601, message: `unknown: ${method}` } },
        true,
      );
  }
}

async function call({ name, arguments: { key }, _meta }, send) {
  if (name === 'steps') {
    for (let progress = 1; progress <= STEPS; progress++) {
      const params = { progressToken: _meta?.progressToken, progress, message: key };
      send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    }
  }
  const word = name === 'ask' ? await ask(key, send) : undefined;
  if (name === 'ask' && word === undefined) {
    return {
      isError: true,
      content: [{ type: 'text', text: 'not executed: the question was refused' }],
    };
  }
  appendFileSync(file, `${key}\n`);
  const said = { key, word, process: self, taken: ++taken };
  return { content: [{ type: 'text', text: JSON.stringify(said) }] };
}

async function ask(key, send) {
  const id = randomUUID();
  const requestedSchema = { type: 'object', properties: { word: { type: 'string' } } };
  const params = { message: key, requestedSchema };
  const answered = new Promise((resolve) => questions.set(id, resolve));
  send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
  const result = await answered;
  questions.delete(id);
  return result?.content?.word;
}

const sessions = new Set();

async function serve(request, response) {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let body = '';
  for await (const chunk of request) body += chunk;
  const message = JSON.parse(body);
  let session = request.headers['mcp-session-id'];
  if (message.method === 'initialize') sessions.add((session = randomUUID()));
  else if (!sessions.has(session)) return void response.writeHead(404).end();
  if (message.id === undefined || message.method === undefined) {
    response.writeHead(202).end();
    return void receive(message, () => undefined);
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': session });
  return receive(message, (said, isLast) => {
    response.write(`data: ${JSON.stringify(said)}\n\n`);
    if (isLast) response.end();
  });
}

if (kind === 'stdio') {
  const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  createInterface({ input: process.stdin })
    .on('line', (line) => void receive(JSON.parse(line), send))
    .on('close', () => process.exit());
} else {
  const listener = http.createServer((request, response) => void serve(request, response));
  listener.listen(0, '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${listener.address().port}/mcp`),
  );
}
