import type { CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { isJsonObject, type JsonObject } from '@app/platform';
import { wireNameOf } from '@app/routing';
import type { FoundTool, NoGoodMatch } from '@app/search';
import { listedTools } from '../lists/listed-tools.js';

const MAX_DESCRIPTION = 400;
const MAX_NAMED_SERVERS = 40;

const CALL_TOOL: JsonObject = {
  name: 'call_tool',
  title: 'Call a tool',
  description: 'Calls one tool that search_tools found, and returns its result.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'A name from search_tools' },
      arguments: {
        type: 'object',
        description: 'What the tool takes, as its input schema says',
      },
      search_id: {
        type: 'string',
        description: 'The search_id of the answer that the name is from',
      },
    },
    required: ['name'],
  },
};

/**
 * The tools of `/mcp/search`. Their descriptions name the connected servers, because models use only what they
 * know exists.
 */
export function searchTools(catalogue: CatalogueSnapshot): JsonObject[] {
  const there = whatIsThere(catalogue);
  return [
    {
      name: 'search_tools',
      title: 'Search tools',
      description: `Finds tools by what they do. ${there} Call this first, with a short description of what you want to do; then call_tool with a name from the answer. Where no_good_match is set, probably no tool does it.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: {
            type: 'string',
            description: 'What the tool should do, for example "create an issue"',
          },
          limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
          min_fit: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            default: 0,
            description: 'Leave out tools that fit less; 0.2 leaves out those that probably do not',
          },
          servers: {
            type: 'array',
            items: { type: 'string' },
            description: 'Look only on these servers',
          },
        },
        required: ['query'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    {
      name: 'describe_tool',
      title: 'Describe a tool',
      description:
        'The full description and input schema of one tool that search_tools found. Needed when its parameters in the search result are not clear enough.',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', description: 'A name from search_tools' } },
        required: ['name'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    CALL_TOOL,
  ];
}

export function searchInstructions(catalogue: CatalogueSnapshot): string {
  return `${whatIsThere(catalogue)} They are not listed here: find them with search_tools, then use call_tool with the name it gives.`;
}

/** One sentence about the available tools, computed once per tool list. */
export function whatIsThere(catalogue: CatalogueSnapshot): string {
  const tools = listedTools(catalogue);
  let text = sentences.get(tools);
  if (text === undefined) sentences.set(tools, (text = sentenceAbout(tools)));
  return text;
}
const sentences = new WeakMap<readonly CatalogueTool[], string>();

function sentenceAbout(tools: readonly CatalogueTool[]): string {
  const counts = new Map<string, number>();
  for (const { serverName } of tools) {
    counts.set(serverName, (counts.get(serverName) ?? 0) + 1);
  }
  if (counts.size === 0) return 'No MCP server is connected yet.';
  const names = [...counts.keys()].toSorted();
  const named = names.slice(0, MAX_NAMED_SERVERS).join(', ');
  const more =
    names.length > MAX_NAMED_SERVERS ? ` and ${names.length - MAX_NAMED_SERVERS} more` : '';
  return `There are ${tools.length} tools of these MCP servers: ${named}${more}.`;
}

/** Enough of a tool to choose it and usually to call it. */
export function foundToolView({ tool, score, fit }: FoundTool): JsonObject {
  return {
    name: wireNameOf(tool),
    server: tool.isExternal ? tool.serverName : null,
    description: shortened(tool.description),
    parameters: parametersOf(tool.inputSchema),
    score: rounded(score),
    fit: rounded(fit),
  };
}

/** What a model needs to know when nothing fits. */
export function noGoodMatchView({ message, nearest, connect }: NoGoodMatch): JsonObject {
  return {
    message,
    nearest: nearest.map(({ tool, fit }) => ({ name: wireNameOf(tool), fit: rounded(fit) })),
    connect: connect.map(({ tool, fit, reason }) => ({
      server: tool.serverName,
      name: wireNameOf(tool),
      fit: rounded(fit),
      reason,
    })),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** `repo*: string, labels: array`; `*` marks required parameters. */
export function parametersOf(schema: JsonObject): string {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties)
    .map(([name, property]) => {
      const type = isJsonObject(property) ? property['type'] : undefined;
      const star = required.includes(name) ? '*' : '';
      return `${name}${star}: ${typeof type === 'string' ? type : 'any'}`;
    })
    .join(', ');
}

function shortened(text: string): string {
  return text.length <= MAX_DESCRIPTION
    ? text
    : `${text.slice(0, MAX_DESCRIPTION).toWellFormed()} …`;
}
