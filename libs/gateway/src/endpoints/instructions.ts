import type { CatalogueSnapshot } from '@app/catalogue';
import { isWithdrawn } from '@app/registry';
import type { ServerInstructions } from '../lists/server-instructions.js';

const MAX_SERVERS = 30;
/** Long instructions use up the context window of the model. */
const MAX_INSTRUCTIONS_CHARS = 1_500;

/** Instructions for the model: the connected servers, and the instructions of each. */
export function aggregateInstructions(
  catalogue: CatalogueSnapshot,
  instructions: Pick<ServerInstructions, 'get'>,
): string {
  const servers = [...catalogue.servers.values()]
    .filter(({ status }) => !isWithdrawn(status))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const head =
    servers.length === 0
      ? 'No MCP server is connected yet.'
      : `The tools here belong to ${servers.length === 1 ? 'one MCP server' : `${servers.length} MCP servers`}; a tool's name begins with the name of its server and two underscores.`;
  const sections = servers.slice(0, MAX_SERVERS).map((server) => {
    const own = instructions.get(server.id) ?? server.description ?? '';
    return `## ${server.name}\n${shortened(own.trim())}`.trimEnd();
  });
  const rest = servers.slice(MAX_SERVERS).map((server) => server.name);
  if (rest.length > 0) sections.push(`Also connected: ${rest.join(', ')}.`);
  return [head, ...sections].join('\n\n');
}

function shortened(text: string): string {
  return text.length <= MAX_INSTRUCTIONS_CHARS
    ? text
    : `${text.slice(0, MAX_INSTRUCTIONS_CHARS).toWellFormed()} …`;
}
