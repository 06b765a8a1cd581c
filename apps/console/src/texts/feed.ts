import { plural } from '../ui/format.js';

type Data = Readonly<Record<string, unknown>>;

const word = (data: Data, key: string): string => {
  const value = data[key];
  return typeof value === 'string' ? value : '';
};
const number = (data: Data, key: string): number => {
  const value = data[key];
  return typeof value === 'number' ? value : 0;
};

function serverLine(data: Data): string {
  switch (data['change']) {
    case 'registered':
      return 'registered';
    case 'removed':
      return 'removed';
    case 'status':
      return `is ${word(data, 'to').toLowerCase()}`;
    case 'lists':
      return 'lists changed';
    default:
      return 'changed';
  }
}

function catalogueLine(data: Data): string {
  if (data['change'] === 'classified')
    return `${plural(number(data, 'classified'), 'tool')} classified`;
  if (data['change'] === 'skills') return `skill ${word(data, 'skill_id')} changed`;
  const parts = (['added', 'changed', 'removed'] as const)
    .filter((key) => number(data, key) > 0)
    .map((key) => `${number(data, key)} ${key}`);
  return parts.length === 0 ? 'tools read, none changed' : `tools: ${parts.join(', ')}`;
}

/** What happened, after the name of the server or alone. */
const sentences: Readonly<Record<string, (data: Data) => string>> = {
  server: serverLine,
  catalogue: catalogueLine,
  health: (data) => (data['change'] === 'recovered' ? 'answers again' : 'failed its health check'),
  search: (data) => `search: ${plural(number(data, 'found'), 'tool')} found`,
  query: (data) => {
    const servers = data['servers'];
    return `query: ${plural(Array.isArray(servers) ? servers.length : 0, 'server')} asked`;
  },
  session: (data) =>
    `${word(data, 'client') === '' ? 'client' : word(data, 'client')} ${data['change'] === 'ended' ? 'left' : 'connected'}`,
  approval: (data) => word(data, 'change').replaceAll('_', ' '),
  policy: (data) => word(data, 'change').replaceAll('_', ' '),
  audit: (data) => word(data, 'event').replaceAll('_', ' '),
  gap: () => 'some events were left out here',
};

export const feed = {
  sentence: (topic: string, data: Data): string => sentences[topic]?.(data) ?? topic,
  running: 'running',
  toolError: 'tool error',
  failed: 'failed',
  entries: { mcp: 'MCP', rest: 'REST', query: 'query' },
} as const;
