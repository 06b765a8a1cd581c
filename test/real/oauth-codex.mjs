// Codex from npm, for oauth-clients.mjs.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const WITHIN_MS = 120_000;
/** Threads need a model; this one is never asked. */
const MODEL = [
  'model="none"',
  'model_provider="none"',
  'model_providers.none={name="none",base_url="http://127.0.0.1:9/v1",wire_api="responses"}',
].flatMap((setting) => ['-c', setting]);

export const codex = {
  name: 'codex',
  label: 'Codex CLI',
  package: '@openai/codex',
  version: '0.169.0',
  loginArgs: ['mcp', 'login', 'switchboard'],
  saysLogin: /not_?logged_?in|Not logged in|requires? (authentication|login)|Auth\w* required/i,
  env: (home) => ({ PATH: process.env.PATH, HOME: home, TERM: 'dumb' }),

  /** As its documentation says; `codex mcp add` would begin a login of its own. */
  async add({ home, url }) {
    mkdirSync(join(home, '.codex'), { recursive: true });
    writeFileSync(join(home, '.codex/config.toml'), `[mcp_servers.switchboard]\nurl = "${url}"\n`);
  },

  async state(run) {
    const { home, program } = run;
    const options = { cwd: home, env: codex.env(home), timeout: WITHIN_MS };
    const { stdout } = await execute(program, ['mcp', 'list'], options);
    const called = await codex.call(run, 'again').catch((error) => error.message);
    return `${stdout}\n${called}`;
  },

  async call({ home, program }, message) {
    const app = new AppServer(home, program);
    try {
      await app.ask('initialize', { clientInfo: { name: 'real', version: '1' } });
      app.send({ method: 'initialized' });
      const { thread } = await app.ask('thread/start', { cwd: home, ephemeral: true });
      const call = { server: 'switchboard', tool: 'everything__echo', arguments: { message } };
      return JSON.stringify(await app.ask('mcpServer/tool/call', { threadId: thread.id, ...call }));
    } finally {
      await app.stop();
    }
  },
};

/** JSON-RPC over lines, as programs speak to Codex that embed it. */
class AppServer {
  #child;
  #exited;
  #waiting = new Map();
  #notices = [];

  constructor(home, program) {
    const args = [program, 'app-server', ...MODEL];
    const stdio = ['pipe', 'pipe', 'ignore'];
    this.#child = spawn(process.execPath, args, { cwd: home, env: codex.env(home), stdio });
    this.#exited = new Promise((resolve) => this.#child.once('exit', resolve));
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method) this.#notices.push(line);
      else this.#waiting.get(message.id)?.(message);
    });
  }

  send(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async ask(method, params) {
    const id = this.#waiting.size + 1;
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.send({ id, method, params });
    const late = new Promise((resolve) => setTimeout(resolve, WITHIN_MS).unref());
    const answer = await Promise.race([answered, this.#exited, late]);
    if (answer?.result) return answer.result;
    const told = answer?.error?.message ?? 'no answer';
    const status = this.#notices.filter((line) => line.includes('startupStatus')).at(-1) ?? '';
    throw new Error(`${method}: ${told} ${status}`);
  }

  async stop() {
    this.#child.kill();
    await this.#exited;
  }
}
