// The rules of `npm run real`, and its report.
import { CLIENTS } from './real.mjs';

/** As OpenAI, Anthropic and Gemini take the names of functions, and 16 characters for the client's prefix. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,47}$/;

export function problemsOf({ rows, aggregate, clients, processes }) {
  const problems = [];
  const names = new Set(aggregate.map(({ name }) => name));
  for (const { server, direct, state, isSame, through } of rows) {
    const { isUp } = state;
    if (isUp && direct.error) problems.push(`${server.name} connects, but not directly`);
    if (!isUp && direct.tools) problems.push(`${server.name} is ${state.status}: ${state.reason}`);
    if (!isUp && !/\w+ \w+/.test(state.reason)) {
      problems.push(`${server.name} is ${state.status} and does not say why`);
    }
    if (isUp && direct.tools && !isSame) {
      const what = typeof through === 'string' ? through : 'other tools than the server';
      problems.push(`/mcp/servers/${server.name} lists ${what}`);
    }
    const missing = (isUp ? (direct.tools ?? []) : []).filter(
      (tool) => !aggregate.some(({ name }) => name === `${server.name}__${tool.name}`),
    );
    for (const tool of missing) {
      const isShortened = `${server.name}__${tool.name}`.length > 48;
      const isNamed = state.warnings.some((warning) => warning.includes(tool.name));
      if (!isShortened && !isNamed)
        problems.push(`${server.name}: ${tool.name} is missing at /mcp`);
    }
  }
  for (const tool of aggregate) {
    if (!NAME.test(tool.name)) problems.push(`a client could refuse the name ${tool.name}`);
    const problem = schemaProblem(tool.inputSchema);
    if (problem) problems.push(`a client could refuse ${tool.name}: ${problem}`);
  }
  for (const client of clients) {
    if (client.error) problems.push(`${client.name} refuses the list: ${client.error}`);
    else if (client.names.length !== names.size || !client.names.every((name) => names.has(name))) {
      problems.push(`${client.name} lists ${client.names.length} of ${names.size} tools`);
    }
  }
  if (processes.length > 0) problems.push(`${processes.length} processes are left`);
  return problems;
}

function schemaProblem(schema) {
  return schema?.type === 'object' ? undefined : 'its input schema is not that of an object';
}

export function reportOf({ rows, aggregate, clients, processes }) {
  const connected = rows.filter(({ state }) => state.isUp);
  const today = new Date().toISOString().slice(0, 10);
  return `# Real servers

${rows.length} MCP servers from npm behind one service, as \`npm run real\` found them on ${today} with Node ${process.versions.node}: ${connected.length} connect, the others say why not. The versions are pinned in [test/real/servers.json](../test/real/servers.json). Credentials are invalid on purpose, nothing else is configured.

\`\`\`sh
npm run real:install   # 5 GB in ~/.cache/switchboard-real, or in REAL_DIR; up to ten minutes
npm run real           # five minutes; exits with 1 when a rule is broken
\`\`\`

The rules: a server connects as it does without the service, or its \`error_message\` says why not; \`/mcp/servers/{name}\` lists every tool deep-equal to the server's own definition; every client takes the whole list of \`/mcp\`, and what is not in it is named in the \`warnings\` of its server; no process is left (${processes.length === 0 ? 'none was' : `${processes.length} were`}).

## Clients at /mcp

The list has ${aggregate.length} tools.

| client | version | tools |
| --- | --- | --- |
${clients.map((client) => `| ${client.name} | ${versionOf(client.name)} | ${client.names?.length ?? cell(client.error)} |`).join('\n')}

## Servers

| server | package | licence | tools | at /mcp/servers/{name} | remarks |
| --- | --- | --- | --- | --- | --- |
${rows.map(rowOf).join('\n')}
`;
}

function versionOf(name) {
  const known = CLIENTS.find((client) => client.label === name);
  return known?.version ?? 'as in package.json';
}

function rowOf({ server, state, isSame }) {
  const { name, version, licence } = server;
  const { isUp } = state;
  const remarks = isUp ? state.warnings.join('; ') : `${state.status}: ${state.reason}`;
  const equal = isUp ? (isSame ? 'equal' : 'DIFFERENT') : '–';
  return `| ${name} | ${server.package} ${version} | ${licence} | ${isUp ? state.tool_count : '–'} | ${equal} | ${cell(remarks)} |`;
}

const MAX_CELL_CHARS = 400;

function cell(text) {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', "'");
  return line.length > MAX_CELL_CHARS ? `${line.slice(0, MAX_CELL_CHARS)} …` : line;
}
