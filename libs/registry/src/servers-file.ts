import stripJsonComments from 'strip-json-comments';
import { z } from 'zod';
import type { Registration } from './new-server.js';
import { UnreadableServersFile } from './registry.errors.js';
import { MAX_SERVER_NAME, SERVER_NAME } from './server.js';

/**
 * Reads the files that MCP clients keep their servers in: `mcpServers` (Claude Desktop, Cursor),
 * `servers` (VS Code's mcp.json) and `mcp.servers` (VS Code's settings.json).
 */
export interface FileEntry {
  /** As the file has it. */
  readonly key: string;
  readonly registration: Registration;
}
export interface SkippedEntry {
  readonly key: string;
  readonly reason: string;
}

const entrySchema = z.looseObject({
  type: z.string().optional(),
  transport: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  description: z.string().optional(),
  disabled: z.boolean().optional(),
});
type Entry = z.infer<typeof entrySchema>;

const sections = z.record(z.string(), z.unknown());
const fileSchema = z.looseObject({
  mcpServers: sections.optional(),
  servers: sections.optional(),
  mcp: z.looseObject({ servers: sections.optional() }).optional(),
});

/** `file` is only for the message when the text as a whole is no such file. */
export function readServersFile(
  text: string,
  file: string,
): { entries: FileEntry[]; skipped: SkippedEntry[] } {
  const found = serversIn(text, file);
  const entries: FileEntry[] = [];
  const skipped: SkippedEntry[] = [];
  const taken = new Map<string, string>();
  for (const [key, raw] of Object.entries(found)) {
    const read = readEntry(key, raw);
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

function serversIn(text: string, file: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(stripJsonComments(text, { trailingCommas: true }));
  } catch (error) {
    throw new UnreadableServersFile(file, 'it is not valid JSON', error);
  }
  const parsed = fileSchema.safeParse(json);
  const servers = parsed.data?.mcpServers ?? parsed.data?.servers ?? parsed.data?.mcp?.servers;
  if (!servers) {
    throw new UnreadableServersFile(
      file,
      'it has no "mcpServers" object (nor "servers", as VS Code writes it)',
    );
  }
  return servers;
}

function readEntry(key: string, raw: unknown): FileEntry | SkippedEntry {
  const parsed = entrySchema.safeParse(raw);
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
      reason: `${input[0]} asks a person; use an environment variable as \${NAME} instead`,
    };
  if ('cwd' in entry || 'envFile' in entry) {
    return { key, reason: 'cwd and envFile are not supported; write the paths and variables out' };
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
    },
  };
}

function connectionOf(
  entry: Entry,
): Pick<Registration, 'transportType' | 'connectionConfig'> | undefined {
  if (entry.command !== undefined) {
    return {
      transportType: 'STDIO',
      connectionConfig: ownPlaceholders({
        command: entry.command,
        args: entry.args ?? [],
        env: entry.env ?? {},
      }),
    };
  }
  if (entry.url === undefined) return undefined;
  const headers = entry.headers ?? {};
  return isSse(entry, entry.url)
    ? { transportType: 'SSE', connectionConfig: ownPlaceholders({ url: entry.url, headers }) }
    : {
        transportType: 'HTTP',
        connectionConfig: ownPlaceholders({ base_url: entry.url, headers }),
      };
}

/** Cursor and Claude Desktop name no transport for a URL; by custom the old one ends in /sse. */
function isSse(entry: Entry, url: string): boolean {
  const named = (entry.type ?? entry.transport)?.toLowerCase();
  return named ? named === 'sse' : /\/sse\/?(?:[?#]|$)/.test(url);
}

/** VS Code and Cursor write `${env:NAME}` where we write `${NAME}`. */
function ownPlaceholders<T>(config: T): T {
  return JSON.parse(JSON.stringify(config).replaceAll('${env:', '${')) as T;
}

/** The nearest name that our rules allow: `GitHub (work)` becomes `github-work`. */
export function serverName(key: string): string | undefined {
  const name = key
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[^a-z]+|[-]+$/g, '')
    .slice(0, MAX_SERVER_NAME);
  return SERVER_NAME.test(name) ? name : undefined;
}
