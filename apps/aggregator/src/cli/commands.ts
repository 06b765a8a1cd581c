import { z } from 'zod';
import { CliError, exitCodes, type RestClient } from './rest-client.js';
import { table } from './table.js';

/** What a command has to say: for programs as JSON, for people as text. */
export interface Outcome {
  readonly json: unknown;
  readonly text: string;
  readonly exitCode?: number;
}

const serverList = z.object({
  servers: z.array(
    z.looseObject({
      name: z.string(),
      status: z.string(),
      transport_type: z.string(),
      tool_count: z.number(),
      error_message: z.string().nullish(),
    }),
  ),
});

export async function servers(rest: RestClient): Promise<Outcome> {
  const json = await rest.request('GET', '/api/v1/aggregator/servers?limit=500');
  const rows = serverList
    .parse(json)
    .servers.map((server) => [
      server.name,
      server.status,
      server.transport_type,
      String(server.tool_count),
      server.error_message ?? '',
    ]);
  const text =
    rows.length === 0
      ? 'No server is registered yet: switchboard add <name> -- <command> [arguments]'
      : table(['NAME', 'STATUS', 'TRANSPORT', 'TOOLS', ''], rows);
  return { json, text };
}

export interface NewServer {
  readonly name: string;
  readonly command: readonly string[];
  readonly url: string | undefined;
  readonly isSse: boolean;
  readonly env: readonly string[];
  readonly headers: readonly string[];
  readonly description: string | undefined;
}

export async function add(rest: RestClient, server: NewServer): Promise<Outcome> {
  const { name, url, isSse, description } = server;
  const [command, ...args] = server.command;
  if ((url === undefined) === (command === undefined)) {
    throw new CliError(
      'Say how the server is reached: --url <url>, or -- <command> [arguments]',
      exitCodes.usage,
    );
  }
  const headers = pairs(server.headers, ':');
  const body = {
    name,
    ...(description !== undefined && { description }),
    ...(url === undefined
      ? {
          transport_type: 'STDIO',
          connection_config: { command, args, env: pairs(server.env, '=') },
        }
      : isSse
        ? { transport_type: 'SSE', connection_config: { url, headers } }
        : { transport_type: 'HTTP', connection_config: { base_url: url, headers } }),
  };
  const json = await rest.request('POST', '/api/v1/aggregator/servers', body);
  return { json, text: `${name} is registered; "switchboard servers" shows how it gets on.` };
}

function pairs(texts: readonly string[], separator: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      if (at < 1) throw new CliError(`${text} must read NAME${separator}value`, exitCodes.usage);
      return [text.slice(0, at), text.slice(at + 1).trim()];
    }),
  );
}

const named = z.object({ servers: z.array(z.object({ id: z.string(), name: z.string() })) });
const question = z.object({ authorization_url: z.string(), expires_at: z.string() });

/** A person opens the address; the service goes on by itself. */
export async function authorize(rest: RestClient, name: string): Promise<Outcome> {
  const list = await rest.request('GET', '/api/v1/aggregator/servers?limit=500');
  const server = named.parse(list).servers.find((one) => one.name === name);
  if (!server) throw new CliError(`There is no server ${name}.`, exitCodes.failed);
  const json = await rest.request('POST', `/api/v1/aggregator/servers/${server.id}/authorize`);
  const { authorization_url: url, expires_at: until } = question.parse(json);
  return { json, text: `Open this in a browser, until ${until}:\n\n${url}\n` };
}

const found = z.object({
  tools: z.array(z.object({ name: z.string(), score: z.number(), description: z.string() })),
});

export async function search(rest: RestClient, query: string, limit: number): Promise<Outcome> {
  const json = await rest.request('POST', '/api/v1/search', { query, limit });
  const rows = found
    .parse(json)
    .tools.map(({ name, score, description }) => [
      name,
      score.toFixed(2),
      description.replace(/\s+/g, ' ').slice(0, 80),
    ]);
  return {
    json,
    text: rows.length === 0 ? 'Nothing fits.' : table(['TOOL', 'SCORE', ''], rows),
  };
}

const called = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean(),
});

/** Arguments as one JSON object, or as `name=value` where the value is JSON if it can be. */
export async function call(
  rest: RestClient,
  name: string,
  given: readonly string[],
): Promise<Outcome> {
  const body = { name, arguments: toolArguments(given) };
  const json = await rest.request('POST', '/api/v1/tools/call', body);
  const { content, isError } = called.parse(json);
  return {
    json,
    text: content.map((block) => block.text ?? JSON.stringify(block)).join('\n'),
    exitCode: isError ? exitCodes.failed : exitCodes.ok,
  };
}

function toolArguments(given: readonly string[]): Record<string, unknown> {
  const [first] = given;
  if (first?.startsWith('{') && given.length === 1) {
    try {
      return z.record(z.string(), z.unknown()).parse(JSON.parse(first));
    } catch {
      throw new CliError('The arguments are not a JSON object', exitCodes.usage);
    }
  }
  return Object.fromEntries(
    Object.entries(pairs(given, '=')).map(([key, value]) => [key, valueOf(value)]),
  );
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const report = z.looseObject({ status: z.string(), issues: z.array(z.string()).optional() });

export async function health(rest: RestClient): Promise<Outcome> {
  const json = await rest.request('GET', '/api/v1/aggregator/health');
  const { status, issues = [] } = report.parse(json);
  return {
    json,
    text: [status, ...issues.map((issue) => `- ${issue}`)].join('\n'),
    exitCode: status === 'healthy' ? exitCodes.ok : exitCodes.failed,
  };
}
