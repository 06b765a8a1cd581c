import type { ClientVariables } from '../register/client-variables.js';
import {
  type FileEntry,
  readServersFile,
  serverName,
  type SkippedEntry,
} from '../register/servers-file.js';
import { UnreadablePaste } from '../registry.errors.js';

export interface PastedServers {
  readonly entries: readonly FileEntry[];
  readonly skipped: readonly SkippedEntry[];
}

/** More are no paste but a file, for `switchboard import`. */
const MAX_ENTRIES = 200;
const URL_ALONE = /^https?:\/\/\S+$/i;
/** Variables that a client resolves with the folder of its file, which a paste has not. */
const CLIENT_FOLDER = /\$\{(?:workspaceFolder|workspaceRoot|workspaceFolderBasename|userHome)\}/;

/**
 * Servers in what a person pastes: the JSON of a client, with or without its outer `mcpServers` or `servers`, one URL,
 * or one command line. `values` are put in the place of `${NAME}`. Throws UnreadablePaste.
 */
export function readPaste(text: string, values: Readonly<Record<string, string>>): PastedServers {
  const read = readServersFile(fileTextOf(text.trim()), 'pasted', variablesOf(values), unreadable);
  const count = read.entries.length + read.skipped.length;
  if (count > MAX_ENTRIES) {
    throw new UnreadablePaste(
      `it has ${count} servers; paste at most ${MAX_ENTRIES}, or run "switchboard import <file>"`,
    );
  }
  if (count === 0) throw new UnreadablePaste('it has no server');
  const needsFolder = (entry: FileEntry): boolean =>
    CLIENT_FOLDER.test(JSON.stringify(entry.registration.connectionConfig));
  const reason =
    'it names the folder of a project or user, which a paste does not have; write the path, or run "switchboard import <file>"';
  return {
    entries: read.entries.filter((entry) => !needsFolder(entry)),
    skipped: [
      ...read.skipped,
      ...read.entries.filter(needsFolder).map(({ key }) => ({ key, reason })),
    ],
  };
}

/** The paste as a file of a client. */
function fileTextOf(text: string): string {
  if (URL_ALONE.test(text)) return fileOf(nameOfUrl(text), { url: text });
  if (text.startsWith('{')) return withOuter(text);
  // A fragment of a file: "name": { … }
  if (/^"[^"\n]+"\s*:\s*\{/.test(text)) return withOuter(`{${text.replace(/,\s*$/, '')}}`);
  if (text === '' || text.includes('\n')) {
    throw new UnreadablePaste('it is neither JSON of a client, one URL nor one command line');
  }
  return fileOfCommand(text);
}

/** With `mcpServers` around the entries, where a person copied only these. */
function withOuter(text: string): string {
  return /"(?:mcpServers|servers|mcp)"\s*:/.test(text)
    ? text
    : /"(?:command|url|serverUrl|httpUrl)"\s*:\s*"/.test(firstLevelOf(text))
      ? `{"mcpServers":{"server":${text}}}`
      : `{"mcpServers":${text}}`;
}

/** The text without what is within inner braces. */
function firstLevelOf(text: string): string {
  let depth = 0;
  let isString = false;
  let level = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (isString && char === '\\') {
      if (depth === 1) level += text.slice(i, i + 2);
      i++;
      continue;
    }
    if (char === '"') isString = !isString;
    if (!isString && char === '{') depth++;
    if (depth === 1) level += char;
    if (!isString && char === '}') depth--;
  }
  return level;
}

function fileOfCommand(line: string): string {
  const words = wordsOf(line);
  const first = words.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  const [command, ...args] = first < 0 ? [] : words.slice(first);
  if (command === undefined) throw new UnreadablePaste('it has no command');
  const env = Object.fromEntries(
    words.slice(0, first).map((word) => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  return fileOf(nameOfProgram(command, args), { command, args, env });
}

/** The words of a command line, as a shell splits them; nothing is expanded. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  const pattern = /((?:[^\s"'\\]+|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)(\s+|$)/gy;
  let end = 0;
  for (const match of line.matchAll(pattern)) {
    words.push(unquoted(match[1] ?? ''));
    end = match.index + match[0].length;
  }
  if (end < line.length)
    throw new UnreadablePaste('a quotation mark of the command line is not closed');
  return words;
}

function unquoted(word: string): string {
  return word.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
    (_, double: string | undefined, single: string | undefined, escaped: string | undefined) =>
      double === undefined ? (single ?? escaped ?? '') : double.replaceAll(/\\(["\\$`])/g, '$1'),
  );
}

/** `https://mcp.sentry.dev/mcp` is `sentry`. */
function nameOfUrl(text: string): string {
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  const labels = host.split('.').filter((label) => !/^(?:mcp|api|www|\d+)$/.test(label));
  return shortName(labels.length > 1 ? labels.at(-2) : labels[0]);
}

/** `npx -y @modelcontextprotocol/server-memory` is `memory`. */
function nameOfProgram(command: string, args: readonly string[]): string {
  const isRunner = /^(?:npx|uvx|bunx|pnpm|yarn|npm|uv|node|python3?|deno|docker)$/.test(
    baseOf(command),
  );
  const named = isRunner
    ? args.find((arg) => !/^(?:-|run$|exec$|dlx$|tool$|x$)/.test(arg))
    : command;
  return shortName(baseOf(named ?? command));
}

function baseOf(path: string): string {
  const last = path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;
  return last.replace(/@[\d.a-z-]+$/i, '').replace(/\.(?:m?js|ts|py|exe)$/i, '');
}

function shortName(text: string | undefined): string {
  const short = (text ?? '').replaceAll(
    /^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-server|-mcp)$/gi,
    '',
  );
  return serverName(short) ?? serverName(text ?? '') ?? 'server';
}

function fileOf(name: string, entry: object): string {
  return JSON.stringify({ mcpServers: { [name]: entry } });
}

/** Only `${env:NAME}` and the given values: a paste has no folder. */
function variablesOf(values: Readonly<Record<string, string>>): ClientVariables {
  return {
    expand: (text) =>
      text
        .replaceAll('${env:', '${')
        .replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^{}]*)?\}/g, (placeholder, name: string) =>
          Object.hasOwn(values, name) ? (values[name] ?? placeholder) : placeholder,
        )
        .replaceAll('${/}', '/'),
    folder: (path) => path,
  };
}

function unreadable(_file: string, problem: string, cause?: unknown): Error {
  return new UnreadablePaste(problem, cause);
}
