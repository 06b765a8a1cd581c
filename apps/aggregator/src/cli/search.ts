import { Command } from '@commander-js/extra-typings';
import { collect, count } from './option-values.js';
import type { RestClient } from './rest-client.js';
import { fields, table } from './table.js';
import type { CommandResult, Perform } from './session.js';

/** Commands that put a question: for tools, or to the servers themselves. */
export function searchCommand(perform: Perform) {
  return new Command('search')
    .description('find tools by what they do')
    .argument('<text...>', 'what a tool should do')
    .option('--server <server>', 'only tools of this server; may be repeated', collect)
    .option('--limit <count>', 'maximum number of tools', count, 10)
    .action((text, { server, limit }) =>
      perform((rest) => search(rest, text.join(' '), { servers: server, limit })),
    );
}

export function queryCommand(perform: Perform) {
  return new Command('query')
    .description('query many servers at once and rank their answers')
    .argument('<text...>', 'text of the query')
    .option('--server <server>', 'query only this server; may be repeated', collect)
    .option('--limit <count>', 'maximum number of results, 10 to 100', count)
    .option('--explain', 'print which tools were called, and why')
    .action((text, { server, limit, explain }) =>
      perform((rest) => query(rest, text.join(' '), { servers: server, limit, explain })),
    );
}

interface Asked {
  readonly servers?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly explain?: boolean | undefined;
}

async function search(
  rest: RestClient,
  text: string,
  { servers, limit }: Asked,
): Promise<CommandResult> {
  const body = {
    query: text,
    ...(limit && { limit }),
    ...(servers && { server_filter: [...servers] }),
  };
  const json = await rest.ask((api) => api.searchTools({ body }));
  const rows = json.tools.map((tool) => [tool.name, tool.score.toFixed(2), tool.description]);
  return {
    json,
    text: (screen) =>
      rows.length === 0 ? 'Nothing fits.' : table(['TOOL', 'SCORE', ''], rows, screen),
  };
}

async function query(
  rest: RestClient,
  text: string,
  { servers, limit, explain }: Asked,
): Promise<CommandResult> {
  const body = {
    query: text,
    ...(limit && { maxResults: limit }),
    ...(servers && { servers: [...servers] }),
    ...(explain && { explain }),
  };
  const json = await rest.ask((api) => api.queryServers({ body }));
  const { results, metadata } = json;
  const counted = `${metadata.serversSucceeded} of ${metadata.serversQueried} servers answered in ${metadata.processingTimeMs} ms`;
  const parts = results.map(({ rank, relevanceScore, server, content }) =>
    fields([[`${rank}.`, `${server} (${relevanceScore.toFixed(2)})\n${content}`]]),
  );
  const why = explain ? [JSON.stringify(metadata.explanation, null, 2)] : [];
  return { json, text: [...parts, ...why, counted].join('\n\n') };
}
