import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitIdentifiers } from '../../dist/libs/vectors/src/index.js';
import { readLines } from '../search/sets.mjs';

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
  return [...described, ...livemcp, ...rapidapi].filter((row) => row.skills);
}

function textOf(tool) {
  return `${splitIdentifiers(tool.name)}. ${tool.description ?? ''}`;
}

/** Vectors as the service makes them. */
export function withVectors(rows, scorer, model) {
  const servers = Map.groupBy
    ? Map.groupBy(rows, (row) => row.server)
    : rows.reduce(
        (map, row) => map.set(row.server, [...(map.get(row.server) ?? []), row]),
        new Map(),
      );
  return [...servers].flatMap(([server, tools]) => {
    const vectors =
      server === undefined
        ? tools.map((tool) => model.embed(tool.text))
        : scorer.inContext(
            server,
            tools.map((tool) => tool.text),
          );
    return tools.flatMap((tool, i) => (vectors[i] ? [{ ...tool, vector: vectors[i] }] : []));
  });
}
