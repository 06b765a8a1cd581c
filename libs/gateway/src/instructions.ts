import type { CatalogueSnapshot } from '@app/discovery';
import type { SessionPool } from '@app/sessions';

/** Long instructions crowd out the conversation they are meant for. */
const MAX_OF_ONE_SERVER = 1_500;
const MAX_SERVERS = 30;

/** What a model should know before it sees the tools: who is behind them, and in whose words. */
export function aggregateInstructions(
  catalogue: CatalogueSnapshot,
  sessions: Pick<SessionPool, 'get'>,
): string {
  const servers = [...catalogue.servers.values()]
    .filter((server) => server.status !== 'DISCONNECTED')
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const head =
    servers.length === 0
      ? 'No MCP server is connected yet.'
      : `The tools here belong to ${servers.length === 1 ? 'one MCP server' : `${servers.length} MCP servers`}; a tool's name begins with the name of its server and two underscores.`;
  const sections = servers.slice(0, MAX_SERVERS).map((server) => {
    const own = sessions.get(server.id)?.instructions ?? server.description ?? '';
    return `## ${server.name}\n${shortened(own.trim())}`.trimEnd();
  });
  const rest = servers.slice(MAX_SERVERS).map((server) => server.name);
  if (rest.length > 0) sections.push(`Also connected: ${rest.join(', ')}.`);
  return [head, ...sections].join('\n\n');
}

function shortened(text: string): string {
  return text.length <= MAX_OF_ONE_SERVER
    ? text
    : `${text.slice(0, MAX_OF_ONE_SERVER).toWellFormed()} …`;
}
