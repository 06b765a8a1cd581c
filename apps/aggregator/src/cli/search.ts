import type { SearchView } from '@app/api-client';
import { Command } from '@commander-js/extra-typings';
import { collect, count } from './option-values.js';
import type { RestClient } from './rest-client.js';
import type { Screen } from './screen.js';
import { fields, table } from './table.js';
import type { CommandResult, Perform } from './session.js';

/** Commands that put a question: for tools, or to the servers themselves. */
export function searchCommand(perform: Perform) {
  return new Command('search')
    .description('find tools by what they do')
    .argument('<text...>', 'what a tool should do')
    .option('--server <server>', 'only tools of this server; may be repeated', collect)
    .option('--limit <count>', 'maximum number of tools', count, 10)
    .option('--view <slug>', 'only what this view offers')
    .option('--explain', 'print why each tool was found, and which fit but were left out')
    .action((text, { server, limit, view, explain }) =>
      perform((rest) => search(rest, text.join(' '), { servers: server, limit, view, explain })),
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
  readonly view?: string | undefined;
}

async function search(
  rest: RestClient,
  text: string,
  { servers, limit, explain, view }: Asked,
): Promise<CommandResult> {
  const body = {
    query: text,
    ...(limit && { limit }),
    ...(servers && { server_filter: [...servers] }),
    ...(explain && { explain }),
    ...(view !== undefined && { view }),
  };
  const json = await rest.ask((api) => api.searchTools({ body }));
  if (json.explanation) return { json, text: (screen) => explained(json, screen) };
  const rows = json.tools.map((tool) => [
    tool.name,
    tool.score.toFixed(2),
    tool.fit.toFixed(2),
    tool.description,
  ]);
  return {
    json,
    text: (screen) =>
      [
        rows.length === 0 ? 'Nothing fits.' : table(['TOOL', 'SCORE', 'FIT', ''], rows, screen),
        ...noGoodMatch(json),
      ].join('\n\n'),
  };
}

function noGoodMatch({ metadata }: SearchView): string[] {
  const none = metadata.no_good_match;
  if (!none) return [];
  return [
    none.message,
    ...none.connect.map(({ name, server, reason }) => `${name} of ${server} fits. ${reason}`),
  ];
}

/** The shares of each score, then the query, then what was left out. */
function explained(found: SearchView, screen: Screen): string {
  const { tools, explanation } = found;
  const hits = tools.map(({ name, score, fit, explanation: hit }) => [
    name,
    score.toFixed(2),
    fit.toFixed(2),
    hit?.shares.lexical.toFixed(2) ?? '',
    hit?.shares.dense.toFixed(2) ?? '',
    hit?.shares.learnt.toFixed(2) ?? '',
    hit?.skill ? `${hit.skill.id} ${hit.skill.score.toFixed(2)}` : '',
    hit?.matched_words.map(({ word }) => word).join(', ') ?? '',
  ]);
  const headings = ['TOOL', 'SCORE', 'FIT', 'WORDS', 'MEANING', 'USES', 'SKILL', 'MATCHED'];
  const leftOut = (explanation?.left_out ?? []).map(({ name, score, kind, reason }) => [
    name,
    score.toFixed(2),
    kind,
    reason,
  ]);
  return [
    hits.length === 0 ? 'Nothing fits.' : table(headings, hits, screen),
    fields([
      ['Embedded by', explanation?.embedding_model ?? 'nothing: searched by words only'],
      ['Translated from', explanation?.language ?? undefined],
      ['Added words', explanation?.added_words.join(' ')],
      ['Clauses', explanation?.clauses.join('\n')],
    ]),
    ...noGoodMatch(found),
    ...(leftOut.length > 0 ? [table(['LEFT OUT', 'SCORE', 'WHY', ''], leftOut, screen)] : []),
  ].join('\n\n');
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
