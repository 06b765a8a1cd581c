import { isWithdrawn } from '@app/registry';
import type { ServerInstructions } from '../lists/server-instructions.js';
import type { ShownOffer } from './shown-offer.js';

const MAX_SERVERS = 30;
/** Long instructions use up the context window of the model. */
const MAX_INSTRUCTIONS_CHARS = 1_500;

/** Those of a server as a view may show them: not if they name a tool that the view leaves out. */
export function shownInstructions(
  serverId: string,
  shown: Pick<ShownOffer, 'namesHidden'>,
  instructions: Pick<ServerInstructions, 'get'>,
): string | undefined {
  const text = instructions.get(serverId);
  return text === undefined || shown.namesHidden(serverId, text) ? undefined : text;
}

/** Instructions for the model: the connected servers, and the instructions of each. */
export function aggregateInstructions(
  shown: Pick<ShownOffer, 'catalogue' | 'namesHidden'>,
  instructions: Pick<ServerInstructions, 'get'>,
): string {
  const servers = [...shown.catalogue.servers.values()]
    .filter(({ status }) => !isWithdrawn(status))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const head =
    servers.length === 0
      ? 'No MCP server is connected yet.'
      : `The tools here belong to ${servers.length === 1 ? 'one MCP server' : `${servers.length} MCP servers`}; a tool's name begins with the name of its server and two underscores.`;
  const sections = servers.slice(0, MAX_SERVERS).map((server) => {
    const own = shownInstructions(server.id, shown, instructions) ?? server.description ?? '';
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
