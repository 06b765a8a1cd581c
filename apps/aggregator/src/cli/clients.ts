import { Command, Option } from '@commander-js/extra-typings';
import { CliError, exitCodes } from './exit-codes.js';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';

export function clientsCommand(perform: Perform) {
  return new Command('clients')
    .description('print configuration snippets for MCP clients; replace YOUR_TOKEN in them')
    .argument('[client]', 'only the snippet of this client: cursor, claude-code, …')
    .addOption(
      new Option('--endpoint <endpoint>', 'all tools, or three tools that find the others')
        .choices(['all', 'search'] as const)
        .default('all' as const),
    )
    .action((client, { endpoint }) => perform((rest) => clients(rest, client, endpoint)));
}

async function clients(
  rest: RestClient,
  id: string | undefined,
  endpoint: 'all' | 'search',
): Promise<CommandResult> {
  const json = await rest.ask((api) => api.listClientSnippets({ query: { endpoint } }));
  if (id === undefined) {
    const parts = json.clients.map(
      (one) => `# ${one.name} (${one.id}): ${one.where}\n\n${one.snippet.trimEnd()}\n`,
    );
    return { json, text: parts.join('\n') };
  }
  const found = json.clients.find((one) => one.id === id);
  if (!found) {
    const known = json.clients.map((one) => one.id).join(', ');
    throw new CliError(`There is no client ${id}; there are ${known}.`, exitCodes.notFound);
  }
  return { json: found, text: found.snippet.trimEnd() };
}
