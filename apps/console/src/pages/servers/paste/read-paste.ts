import { emptyDraft, type Pair, type ServerDraft } from '../../../servers/form/server-draft.js';
import { texts } from '../../../texts/index.js';

const t = texts.servers.paste;

/** One server of what was pasted. */
export interface PastedEntry {
  /** As it was pasted. */
  readonly key: string;
  readonly draft: ServerDraft;
  /** Why it cannot be used. */
  readonly problem: string | undefined;
  /** `${NAME}` in its settings: variables of the service, unless a value is given here. */
  readonly variables: readonly string[];
}

export interface Pasted {
  readonly entries: readonly PastedEntry[];
  readonly problem?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** `mcpServers` of any client, VS Code's `servers`, one server, one address, or one command line. */
export function readPaste(text: string): Pasted {
  const given = text.trim();
  if (given === '') return { entries: [] };
  if (/^https?:\/\/\S+$/.test(given))
    return { entries: [entryOf(nameOfUrl(given), { url: given })] };
  if (!given.startsWith('{')) return ofCommandLine(given);
  let json: unknown;
  try {
    json = JSON.parse(given);
  } catch (error) {
    return { entries: [], problem: t.noJson(error instanceof Error ? error.message : '') };
  }
  const section = sectionIn(fieldsOf(json) ?? {});
  if (!section) return { entries: [], problem: t.noServers };
  const entries = Object.entries(section).map(([key, raw]) => {
    const fields = fieldsOf(raw);
    return fields ? entryOf(key, fields) : unusable(key, t.noObject);
  });
  return { entries: entries.map((entry, at) => withoutRival(entry, entries.slice(0, at))) };
}

function ofCommandLine(line: string): Pasted {
  if (line.includes('\n')) return { entries: [], problem: t.noServers };
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  const [command = '', ...args] = words;
  const named = args.findLast((word) => /[a-z]/i.test(word) && !word.startsWith('-')) ?? command;
  const name =
    named
      .split('/')
      .at(-1)
      ?.replace(/@[^@]*$|\.\w+$/g, '') ?? command;
  return { entries: [entryOf(name.replace(/^(?:mcp-)?server-|^mcp-/, ''), { command, args })] };
}

function sectionIn(json: Fields): Fields | undefined {
  const named = json['mcpServers'] ?? json['servers'] ?? fieldsOf(json['mcp'])?.['servers'];
  const section = fieldsOf(named);
  if (section) return section;
  if (isServer(json)) {
    const url = addressIn(json);
    return { [url === '' ? text(json, 'command') : nameOfUrl(url)]: json };
  }
  const values = Object.values(json);
  const isMap = values.length > 0 && values.every((value) => isServer(fieldsOf(value) ?? {}));
  return isMap ? json : undefined;
}

function isServer(fields: Fields): boolean {
  return text(fields, 'command') !== '' || addressIn(fields) !== '';
}

function addressIn(fields: Fields): string {
  return text(fields, 'httpUrl') || text(fields, 'url') || text(fields, 'serverUrl');
}

function entryOf(key: string, raw: Fields): PastedEntry {
  const name = serverName(key);
  const url = addressIn(raw);
  const isProgram = text(raw, 'command') !== '';
  const draft: ServerDraft = {
    ...emptyDraft,
    name,
    description: text(raw, 'description'),
    transport: isProgram ? 'STDIO' : isSse(raw, url) ? 'SSE' : 'HTTP',
    command: text(raw, 'command'),
    args: list(raw, 'args').join('\n'),
    env: pairs(raw, 'env'),
    cwd: text(raw, 'cwd'),
    url,
    headers: pairs(raw, 'headers'),
    autoConnect: raw['disabled'] !== true,
  };
  return { key, draft, problem: problemOf(raw, draft), variables: variablesIn(draft) };
}

function unusable(key: string, problem: string): PastedEntry {
  return { key, draft: { ...emptyDraft, name: serverName(key) }, problem, variables: [] };
}

function problemOf(raw: Fields, draft: ServerDraft): string | undefined {
  if (draft.name === '') return t.noName;
  if (!isServer(raw)) return t.noConnection;
  if ('envFile' in raw) return t.envFile;
  const asked = /\$\{(?:input:[^}]*|workspaceFolder[^}]*|workspaceRoot|userHome)\}/.exec(
    JSON.stringify(raw),
  );
  return asked ? t.clientVariable(asked[0]) : undefined;
}

function withoutRival(entry: PastedEntry, before: readonly PastedEntry[]): PastedEntry {
  const rival = before.find(({ draft }) => draft.name !== '' && draft.name === entry.draft.name);
  return rival ? { ...entry, problem: entry.problem ?? t.sameName(rival.key) } : entry;
}

/** As the service makes names of keys: `GitHub (work)` becomes `github-work`. */
function serverName(key: string): string {
  return key
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 255);
}

/** `https://mcp.sentry.dev/mcp` is `sentry`. */
function nameOfUrl(url: string): string {
  if (!URL.canParse(url)) return 'server';
  const { hostname } = new URL(url);
  if (/^[\d.]+$|^\[/.test(hostname) || !hostname.includes('.')) return hostname;
  return hostname.split('.').at(-2) ?? hostname;
}

/** Clients name no transport for an address; by convention an SSE endpoint ends in /sse. */
function isSse(raw: Fields, url: string): boolean {
  if (text(raw, 'httpUrl') !== '') return false;
  const named = (text(raw, 'type') || text(raw, 'transport')).toLowerCase();
  return named === '' ? /\/sse\/?(?:[?#]|$)/.test(url) : named === 'sse';
}

const PLACEHOLDER = /\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}/g;

function variablesIn(draft: ServerDraft): string[] {
  const values = [...draft.env, ...draft.headers].map(({ value }) => value);
  const all = [draft.command, draft.args, draft.cwd, draft.url, ...values].join('\n');
  return [...new Set([...all.matchAll(PLACEHOLDER)].map(([, name = '']) => name))];
}

/** The settings with the values that were given for variables. */
export function filledIn(
  draft: ServerDraft,
  values: Readonly<Record<string, string>>,
): ServerDraft {
  const fill = (given: string): string =>
    given.replace(PLACEHOLDER, (placeholder, name: string) => values[name] || placeholder);
  const filled = (given: readonly Pair[]): Pair[] =>
    given.map((pair) => ({ ...pair, value: fill(pair.value) }));
  return {
    ...draft,
    command: fill(draft.command),
    args: fill(draft.args),
    cwd: fill(draft.cwd),
    url: fill(draft.url),
    env: filled(draft.env),
    headers: filled(draft.headers),
  };
}

function fieldsOf(value: unknown): Fields | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : undefined;
}

/** VS Code and Cursor write `${env:NAME}` where the service writes `${NAME}`. */
function expand(value: string): string {
  return value.replaceAll('${env:', '${');
}

function text(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? expand(value) : '';
}

function list(fields: Fields, key: string): string[] {
  const value = fields[key];
  return Array.isArray(value) ? value.map((item) => expand(String(item))) : [];
}

function pairs(fields: Fields, key: string): Pair[] {
  return Object.entries(fieldsOf(fields[key]) ?? {}).map(([name, value], id) => ({
    id,
    name,
    value: expand(typeof value === 'string' ? value : JSON.stringify(value)),
  }));
}
