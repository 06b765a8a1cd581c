// Each client lists the tools of one endpoint in its own way and returns their names; it throws what it says when it
// refuses the list.
import { createMCPClient } from '@ai-sdk/mcp';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { clientFolder, NODE_24, programOf } from './real.mjs';

const run = promisify(execFile);
const INFO = { name: 'real', version: '1' };
const WITHIN_MS = 120_000;
const MAX_OUTPUT_BYTES = 100_000_000;

const headersOf = (token) => ({ Authorization: `Bearer ${token}` });
const namesOf = (tools) => tools.map(({ name }) => name);

async function pagesOf(client) {
  const names = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...namesOf(page.tools));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

async function sdk(client, transport) {
  await client.connect(transport);
  try {
    return await pagesOf(client);
  } finally {
    await client.close();
  }
}

const requestInit = (token) => ({ requestInit: { headers: headersOf(token) } });
const modern = (versionNegotiation) => (url, token) =>
  sdk(
    new ModernClient(INFO, { versionNegotiation }),
    new StreamableHTTPClientTransport(new URL(url), requestInit(token)),
  );

async function aiSdk(url, token) {
  const transport = { type: 'http', url, headers: headersOf(token) };
  const client = await createMCPClient({ transport });
  try {
    return Object.keys(await client.tools());
  } finally {
    await client.close();
  }
}

async function langchain(url, token) {
  const { folder, package: name } = clientFolder('langchain');
  const path = createRequire(join(folder, 'package.json')).resolve(name);
  const { MultiServerMCPClient } = await import(pathToFileURL(path).href);
  const client = new MultiServerMCPClient({
    mcpServers: { switchboard: { transport: 'http', url, headers: headersOf(token) } },
    onConnectionError: 'throw',
    prefixToolNameWithServerName: false,
    throwOnLoadError: true,
  });
  try {
    return namesOf(await client.getTools());
  } finally {
    await client.close();
  }
}

/** The JSON that a command line client prints, started in an empty home. */
async function printedBy(name, args, home) {
  const { stdout } = await run(NODE_24, [programOf(clientFolder(name)), ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home },
    timeout: WITHIN_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return JSON.parse(stdout.slice(stdout.indexOf('{')));
}

async function mcporter(url, token, home) {
  const header = `Authorization=Bearer ${token}`;
  const args = ['--http-url', url, '--allow-http', '--header', header, '--name', 'switchboard'];
  const printed = await printedBy('mcporter', ['list', ...args, '--schema', '--json'], home);
  if (!printed.tools) throw new Error(JSON.stringify(printed).slice(0, 500));
  return namesOf(printed.tools);
}

async function inspector(url, token, home) {
  const header = `Authorization: Bearer ${token}`;
  const args = ['--cli', url, '--transport', 'http', '--method', 'tools/list', '--header', header];
  const { tools } = await printedBy('inspector', args, home);
  return namesOf(tools);
}

/** By name: `(url, token, home) => names of the tools`. */
export const LISTINGS = {
  'SDK v1': (url, token) =>
    sdk(new FirstClient(INFO), new FirstTransport(new URL(url), requestInit(token))),
  'SDK v2, sessions': modern({ mode: 'legacy' }),
  'SDK v2, stateless': modern({ mode: { pin: '2026-07-28' } }),
  '@ai-sdk/mcp': aiSdk,
  '@langchain/mcp-adapters': langchain,
  mcporter,
  'Inspector CLI': inspector,
};
