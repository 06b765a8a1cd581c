// Claude Code from npm, for oauth-clients.mjs.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const TOOL = 'mcp__switchboard__everything__echo';
const WITHIN_MS = 120_000;

export const claudeCode = {
  name: 'claude-code',
  label: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.197',
  // It copies the program for this machine to where npm links it.
  runsScripts: true,
  loginArgs: ['mcp', 'login', 'switchboard'],
  saysLogin: /Needs authentication/,
  env: (home) => ({
    PATH: process.env.PATH,
    HOME: home,
    TERM: 'dumb',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),

  async add({ home, program, url }) {
    const options = { cwd: home, env: claudeCode.env(home), timeout: WITHIN_MS };
    const args = ['mcp', 'add', '--transport', 'http', 'switchboard', url];
    await execute(program, ['mcp', 'remove', 'switchboard'], options).catch(() => undefined);
    await execute(program, args, options);
  },

  async state({ home, program }) {
    const options = { cwd: home, env: claudeCode.env(home), timeout: WITHIN_MS };
    const { stdout } = await execute(program, ['mcp', 'list'], options);
    return stdout;
  },

  /** What the tool answered, as the model is told it. */
  async call({ home, program }, message) {
    const model = await StandInModel.start(message);
    const env = {
      ...claudeCode.env(home),
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'of-the-stand-in',
    };
    try {
      const args = ['-p', 'call the tool', '--allowedTools', TOOL];
      const running = execute(program, args, { cwd: home, env, timeout: WITHIN_MS });
      running.child.stdin.end();
      await running;
      return model.told ?? `no result of the tool; it was offered ${model.offered.join(', ')}`;
    } finally {
      model.stop();
    }
  },
};

/** Answers as the Messages API of Anthropic does: first with a call of the tool, then with the end. */
class StandInModel {
  told;
  offered = [];
  #server = createServer((request, response) => void this.#answer(request, response));
  #message;

  static async start(message) {
    const model = new StandInModel();
    model.#message = message;
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const isQuestion = /^\/v1\/messages(\?|$)/.test(request.url) && request.method === 'POST';
    if (!isQuestion) return void response.writeHead(404).end();
    const { tools = [], messages, model } = JSON.parse(Buffer.concat(parts).toString());
    this.offered = tools.map(({ name }) => name).filter((name) => name.startsWith('mcp__'));
    const results = messages
      .flatMap(({ content }) => content)
      .filter(({ type }) => type === 'tool_result');
    if (results.length > 0) this.told = JSON.stringify(results);
    const isCall = this.offered.includes(TOOL) && results.length === 0;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of eventsOf(model, isCall ? { message: this.#message } : undefined)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }
}

function eventsOf(model, input) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage };
  const block = input
    ? { type: 'tool_use', id: 'toolu_1', name: TOOL, input: {} }
    : { type: 'text', text: '' };
  const delta = input
    ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    : { type: 'text_delta', text: 'done' };
  const stop_reason = input ? 'tool_use' : 'end_turn';
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}
