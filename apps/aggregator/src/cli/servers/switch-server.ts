import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../exit-codes.js';
import { visible } from '../screen.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { serverId } from './find-server.js';

const POLL_MS = 200;
/** Polls without progress before the wait for tools ends: a replica that does not lead shows none. */
const MOST_IDLE_POLLS = 15;

/** Waits until the server is connected and its tools can be called. */
export async function connectServer(
  rest: RestClient,
  name: string,
  wait: number,
): Promise<CommandResult> {
  const id = await serverId(rest, name);
  const json = await rest.ask((api) =>
    api.connectServer({ path: { id }, query: { wait_seconds: wait } }),
  );
  const said = `${name} is ${json.status}: ${visible(json.message)}`;
  if (json.status === 'ERROR') return { json, text: said, exitCode: exitCodes.failed };
  if (json.status !== 'CONNECTED' || wait === 0) return { json, text: said };
  const tools = await toolsOnceDiscovered(rest, id, wait);
  return { json, text: `${said}, ${tools} ${tools === 1 ? 'tool' : 'tools'}` };
}

async function toolsOnceDiscovered(rest: RestClient, id: string, wait: number): Promise<number> {
  for (let polls = 0; ; polls++) {
    const { phase, published } = await rest.ask((api) => api.getDiscovery({ path: { id } }));
    const isOver = phase === 'DONE' || phase === 'FAILED';
    const isIdle = phase === 'IDLE' && (published > 0 || polls >= MOST_IDLE_POLLS);
    if (isOver || isIdle || polls * POLL_MS >= wait * 1_000) return published;
    await sleep(POLL_MS);
  }
}

export async function disconnectServer(
  rest: RestClient,
  name: string,
  { wait, force = false }: { readonly wait: number; readonly force?: boolean | undefined },
): Promise<CommandResult> {
  const id = await serverId(rest, name);
  const json = await rest.ask((api) =>
    api.disconnectServer({ path: { id }, query: { wait_seconds: wait }, body: { force } }),
  );
  return { json, text: `${name} is ${json.status}: ${visible(json.message)}` };
}

export async function removeServer(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await serverId(rest, name);
  await rest.ask((api) => api.removeServer({ path: { id } }));
  return { json: { removed: name, id }, text: `${name} is removed with its tools and history.` };
}

/** The user opens the URL; the service continues by itself. */
export async function authorizeServer(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await serverId(rest, name);
  const json = await rest.ask((api) => api.authorizeServer({ path: { id } }));
  const { authorization_url: url, expires_at: until } = json;
  return { json, text: `Open this in a browser, until ${until}:\n\n${visible(url)}\n` };
}
