import { Command } from '@commander-js/extra-typings';
import { exitCodes } from './exit-codes.js';
import type { RestClient } from './rest-client.js';
import { visible } from './screen.js';
import { serverId } from './servers/find-server.js';
import { type CommandResult, type Perform, state } from './session.js';
import { fields } from './table.js';

export function healthCommand(perform: Perform) {
  return new Command('health')
    .description('show the health of the service and its servers; exits with 1 if not healthy')
    .argument('[server]', 'only the health of this server')
    .action((server) =>
      perform((rest) => (server === undefined ? health(rest) : healthOf(rest, server))),
    );
}

export function statusCommand(perform: Perform) {
  return new Command('status')
    .description('show the uptime and the numbers of servers and tools')
    .action(() => perform(status));
}

async function health(rest: RestClient): Promise<CommandResult> {
  const json = await rest.ask(async (api) => {
    const { data, error, response } = await api.getHealth();
    const isUnhealthy = typeof error === 'object' && error !== null && 'checks' in error;
    return { data: isUnhealthy ? error : data, error, response };
  });
  const { status: how, issues = [] } = json;
  return {
    json,
    text: (screen) =>
      [state(how, screen), ...issues.map((issue) => `- ${visible(issue)}`)].join('\n'),
    exitCode: how === 'healthy' ? exitCodes.ok : exitCodes.failed,
  };
}

async function healthOf(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await serverId(rest, name);
  const json = await rest.ask((api) => api.getServerHealth({ path: { id } }));
  const { response_time_ms: time, authorization } = json;
  const text = fields([
    ['name', json.name],
    ['status', json.status],
    ['healthy', json.healthy ? 'yes' : 'no'],
    ['last check', json.last_health_check],
    ['answered in', time === null ? null : `${time} ms`],
    ['failures', String(json.consecutive_failures)],
    ['last error', json.last_error],
    ['error', json.error_message],
    ['authorization', authorization && [authorization.status, authorization.url].join(' ').trim()],
  ]);
  return { json, text, exitCode: json.healthy ? exitCodes.ok : exitCodes.failed };
}

async function status(rest: RestClient): Promise<CommandResult> {
  const json = await rest.ask((api) => api.getState());
  const text = fields([
    ['servers', String(json.total_servers)],
    ['connected', String(json.connected_servers)],
    ['connecting', String(json.connecting_servers)],
    ['degraded', String(json.degraded_servers)],
    ['disconnected', String(json.disconnected_servers)],
    ['error', String(json.error_servers)],
    ['tools', String(json.total_tools)],
    ['classified', String(json.classified_tools)],
    ['unclassified', String(json.unclassified_tools)],
    ['last sync', json.last_sync],
    ['checked every', duration(json.health_check_interval_seconds)],
    ['up for', duration(json.uptime_seconds)],
  ]);
  return { json, text };
}

/** The two largest units: `2 d 5 h`, `3 min 20 s`. */
export function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  const units = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const;
  const largest = units.findIndex(([count]) => count > 0);
  if (largest === -1) return '0 s';
  return units
    .slice(largest, largest + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
