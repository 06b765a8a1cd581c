import { parseConfigFile, trustLevels, UnreadableConfigFile } from '@app/platform';
import { basename, extname } from 'node:path';
import { z } from 'zod';
import { type ClientVariables, clientVariables } from './client-variables.js';
import type { Registration } from './new-server.js';
import { UnreadableServersFile } from '../registry.errors.js';
import { credentialModes, MAX_SERVER_NAME, SERVER_NAME } from '../server.js';

/**
 * Reads servers from the configuration files of MCP clients: `mcpServers` (Claude Desktop, Cursor), `servers` (VS
 * Code's mcp.json) and `mcp.servers` (VS Code's settings.json).
 */
export interface FileEntry {
  /** The key in the file. */
  readonly key: string;
  readonly registration: FileRegistration;
}
type FileRegistration = Registration & {
  readonly connectionConfig: Readonly<Record<string, unknown>>;
};
export interface SkippedEntry {
  readonly key: string;
  readonly reason: string;
}

export interface ServersFile {
  readonly entries: readonly FileEntry[];
  readonly skipped: readonly SkippedEntry[];
}

type EntrySchema = ReturnType<typeof entrySchemaOf>;
type Entry = z.infer<EntrySchema>;

function entrySchemaOf({ expand, folder }: ClientVariables) {
  const text = z.string().transform(expand);
  const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
  return z.looseObject({
    type: z.string().optional(),
    transport: z.string().optional(),
    command: text.optional(),
    args: z.array(text).optional(),
    env: z.record(z.string(), scalar.transform(expand)).optional(),
    cwd: z
      .string()
      .transform((path) => folder(expand(path)))
      .optional(),
    url: text.optional(),
    /** Windsurf's member for `url`. */
    serverUrl: text.optional(),
    /** Gemini CLI's member for a Streamable HTTP URL. */
    httpUrl: text.optional(),
    headers: z.record(z.string(), text).optional(),
    description: z.string().optional(),
    disabled: z.boolean().optional(),
    trust: z.enum(trustLevels).optional(),
    credentials: z.enum(credentialModes).optional(),
  });
}

const section = z.record(z.string(), z.unknown());
/** Other programs use these members too, so anything but an object is ignored. */
const fileSchema = z.looseObject({
  /** Read by the policy: a file may have these and no servers. */
  views: z.unknown().optional(),
  overrides: z.unknown().optional(),
  mcpServers: section.optional().catch(undefined),
  servers: section.optional().catch(undefined),
  mcp: z
    .looseObject({ servers: section.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Makes the error of a text that cannot be used. */
type Unreadable = (file: string, problem: string, cause?: unknown) => Error;

/** `file` is the path of the text: client variables are resolved against it, and messages name it. */
export function readServersFile(
  text: string,
  file: string,
  variables: ClientVariables = clientVariables(file),
  unreadable: Unreadable = (...what) => new UnreadableServersFile(...what),
): ServersFile {
  const found = serversIn(text, file, unreadable);
  const schema = entrySchemaOf(variables);
  const entries: FileEntry[] = [];
  const skipped: SkippedEntry[] = [];
  const taken = new Map<string, string>();
  for (const [key, raw] of Object.entries(found)) {
    const read = readEntry(key, raw, schema);
    const rival = 'registration' in read ? taken.get(read.registration.name) : undefined;
    if ('reason' in read) skipped.push(read);
    else if (rival)
      skipped.push({ key, reason: `its name becomes the same as that of "${rival}"` });
    else {
      taken.set(read.registration.name, key);
      entries.push(read);
    }
  }
  return { entries, skipped };
}

function serversIn(text: string, file: string, unreadable: Unreadable): Record<string, unknown> {
  let json: unknown;
  try {
    json = parseConfigFile(text);
  } catch (error) {
    if (!(error instanceof UnreadableConfigFile)) throw error;
    const problem = isToml(text, file)
      ? 'it is TOML, and only JSON and YAML are read'
      : error.message;
    throw unreadable(file, problem, error);
  }
  const parsed = fileSchema.safeParse(json);
  const servers = parsed.data?.mcpServers ?? parsed.data?.servers ?? parsed.data?.mcp?.servers;
  if (!servers && (parsed.data?.views ?? parsed.data?.overrides) !== undefined) return {};
  if (!servers) {
    throw unreadable(file, 'it has no "mcpServers" object (nor "servers", as VS Code writes it)');
  }
  return servers;
}

/** Codex writes TOML. */
function isToml(text: string, file: string): boolean {
  const isNamedSo = extname(basename(file)).toLowerCase() === '.toml';
  return isNamedSo || /^\s*\[{1,2}[A-Za-z_][\w."' -]*\]{1,2}\s*(?:#.*)?$/m.test(text);
}

function readEntry(key: string, raw: unknown, schema: EntrySchema): FileEntry | SkippedEntry {
  const parsed = schema.safeParse(raw);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return {
      key,
      reason: `${issue?.path.join('.') || 'the entry'}: ${issue?.message ?? 'is not usable'}`,
    };
  }
  const entry = parsed.data;
  const name = serverName(key);
  if (!name) return { key, reason: 'no server name can be made of it: it has no Latin letter' };
  const input = /\$\{input:[^}]*\}/.exec(JSON.stringify(entry));
  if (input)
    return {
      key,
      reason: `${input[0]} is a value that VS Code asks its user for; use an environment variable, \${NAME}, instead`,
    };
  if ('envFile' in entry) {
    return { key, reason: 'envFile is not supported; write its variables into env' };
  }
  const connection = connectionOf(entry);
  if (!connection) return { key, reason: 'it has neither a "command" nor a "url"' };
  return {
    key,
    registration: {
      name,
      description: entry.description,
      ...connection,
      autoConnect: entry.disabled !== true,
      ...(entry.trust && { trust: entry.trust }),
      ...(entry.credentials && { credentials: entry.credentials }),
    },
  };
}

function connectionOf(
  entry: Entry,
): Pick<FileRegistration, 'transportType' | 'connectionConfig'> | undefined {
  if (entry.command !== undefined) {
    return {
      transportType: 'STDIO',
      connectionConfig: {
        command: entry.command,
        args: entry.args ?? [],
        env: entry.env ?? {},
        ...(entry.cwd !== undefined && { cwd: entry.cwd }),
      },
    };
  }
  const url = entry.httpUrl ?? entry.url ?? entry.serverUrl;
  if (url === undefined) return undefined;
  const headers = entry.headers ?? {};
  return entry.httpUrl === undefined && isSse(entry, url)
    ? { transportType: 'SSE', connectionConfig: { url, headers } }
    : { transportType: 'HTTP', connectionConfig: { base_url: url, headers } };
}

/** Cursor and Claude Desktop name no transport for a URL; by convention an SSE endpoint ends in /sse. */
function isSse(entry: Entry, url: string): boolean {
  const named = (entry.type ?? entry.transport)?.toLowerCase();
  return named ? named === 'sse' : /\/sse\/?(?:[?#]|$)/.test(url);
}

/** The closest valid server name: `GitHub (work)` becomes `github-work`. */
export function serverName(key: string): string | undefined {
  const name = key
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[^a-z]+|[-]+$/g, '')
    .slice(0, MAX_SERVER_NAME);
  return SERVER_NAME.test(name) ? name : undefined;
}
