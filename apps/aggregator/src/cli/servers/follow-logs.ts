import { setTimeout as sleep } from 'node:timers/promises';
import type { RestClient } from '../rest-client.js';
import { shown } from '../screen.js';
import type { CommandResult, Output } from '../session.js';
import { serverId } from './find-server.js';

const POLL_MS = 1_000;

export interface LogOptions {
  readonly follow?: true | undefined;
  readonly lines?: number | undefined;
}

export async function serverLogs(
  rest: RestClient,
  output: Output,
  name: string,
  options: LogOptions,
): Promise<CommandResult | undefined> {
  const id = await serverId(rest, name);
  const json = await rest.ask((api) => api.getServerLogs({ path: { id } }));
  const lines = options.lines === undefined ? json.lines : json.lines.slice(-options.lines);
  if (options.follow) {
    await follow(rest, output, id, { seen: json.lines, lines });
    return undefined;
  }
  return {
    json: { ...json, lines },
    text: (screen) =>
      lines.length === 0
        ? `${name} has written nothing to standard error (only programs do).`
        : lines.map((line) => shown(line, screen)).join('\n'),
  };
}

/** Prints new lines until the user ends it, or the server or the service is gone. */
async function follow(
  rest: RestClient,
  output: Output,
  id: string,
  { seen, lines }: { seen: readonly string[]; lines: readonly string[] },
): Promise<never> {
  for (let kept = seen, fresh = lines; ;) {
    for (const line of fresh) {
      output.add({ json: { line }, text: (screen) => shown(line, screen) });
    }
    await sleep(POLL_MS);
    const { lines: now } = await rest.ask((api) => api.getServerLogs({ path: { id } }));
    fresh = newLines(kept, now);
    kept = now;
  }
}

/**
 * The lines of `now` that follow those of `before`: the service keeps the last lines, without numbers. As many old
 * lines as possible are taken to be still there, so that none is printed twice.
 */
export function newLines(before: readonly string[], now: readonly string[]): readonly string[] {
  for (let dropped = 0; dropped < before.length; dropped++) {
    const left = before.length - dropped;
    if (left <= now.length && before.slice(dropped).every((line, i) => line === now[i])) {
      return now.slice(left);
    }
  }
  return now;
}
