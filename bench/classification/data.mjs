import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitIdentifiers } from '../../dist/libs/vectors/src/index.js';
import { seeded } from '../aggregation/fleet.mjs';
import { readLines } from '../search/sets.mjs';

const TOOLS_PER_COLLECTION = 50;
/** Labels of the servers of realset, by their purpose. */
const realServers = JSON.parse(readFileSync(new URL('real-servers.json', import.meta.url), 'utf8'));

/** The sets write `code-dev` for the skill `code_dev`. */
const skillsOf = (labels) => labels?.map((label) => label.replaceAll('-', '_'));

/** Labelled texts; those of one server (when `server` is given) are classified together, as in the service. */
export function readLabelled(folder) {
  const { labels } = JSON.parse(readFileSync(join(folder, 'taxonomy.json'), 'utf8'));
  const bySet = { 'awesome-mcp': labels.awesome_mcp, 'public-apis': labels.public_apis };
  const described = readLines(join(folder, 'classify.dev.jsonl')).map((row) => ({
    set: row.set,
    text: `${splitIdentifiers(row.name)}. ${row.text}`,
    skills: skillsOf(bySet[row.set][row.label]),
  }));
  const livemcp = readLines(join(folder, 'livemcp.tools.jsonl')).map((tool) => ({
    set: 'livemcp tools',
    text: textOf(tool),
    server: `${tool.serverTitle ?? tool.server}. ${tool.serverDescription ?? ''}`,
    skills: skillsOf(labels.livemcp_servers[tool.server]),
  }));
  const rapidapi = readLines(join(folder, 'stabletoolbench.tools.jsonl')).map((tool) => ({
    set: 'rapidapi tools',
    text: textOf(tool),
    server: `${tool.server}. `,
    skills: skillsOf(labels.rapidapi[tool.category]),
  }));
  const real = readLines(join(folder, 'realset.tools.jsonl')).map((tool) => ({
    set: 'real servers',
    text: textOf(tool),
    server: `${tool.server}. `,
    skills: realServers[tool.server],
  }));
  return [...described, ...livemcp, ...rapidapi, ...real].filter((row) => row.skills);
}

function textOf(tool) {
  return `${splitIdentifiers(tool.name)}. ${tool.description ?? ''}`;
}

/** Scores computed as in the service. */
export function withScores(rows, scorer, model) {
  const servers = Map.groupBy
    ? Map.groupBy(rows, (row) => row.server)
    : rows.reduce(
        (map, row) => map.set(row.server, [...(map.get(row.server) ?? []), row]),
        new Map(),
      );
  return [...servers].flatMap(([server, tools]) => {
    const texts = tools.map((tool) => tool.text);
    const scores =
      server === undefined
        ? texts.map((text) => scoreAlone(text, scorer, model))
        : scorer.scoreTools(server, texts);
    return tools.flatMap((tool, i) => (scores[i] ? [{ ...tool, scores: scores[i] }] : []));
  });
}

function scoreAlone(text, scorer, model) {
  const vector = model.embed(text);
  return vector && scorer.score(vector);
}

/** The same tools on servers that collect tools of many services, 50 each. */
export function mixed(rows) {
  const random = seeded(rows.length);
  return rows
    .map((row) => ({ row, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }, i) => ({
      ...row,
      set: `${row.set}, mixed`,
      server: `collection ${Math.floor(i / TOOLS_PER_COLLECTION)}. `,
    }));
}
