import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What `switchboard` ends with; scripts rely on it. */
export const exitCodes = {
  ok: 0,
  /** The service or a tool said no. */
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthorized: 4,
} as const;

/** An end of the program that a person can do something about. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

export interface Service {
  readonly url: string;
  readonly token: string | undefined;
}

/** Options win over variables, variables over what a service on this machine left in its data folder. */
export function locateService(
  given: { readonly url?: string | undefined; readonly token?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Service {
  const dataDir = env['MCP_AGGREGATOR_DATA_DIR'] ?? './data';
  const url =
    given.url ??
    env['SWITCHBOARD_URL'] ??
    textOf(join(dataDir, 'address')) ??
    'http://127.0.0.1:8081';
  const token = given.token ?? env['SWITCHBOARD_TOKEN'] ?? textOf(join(dataDir, 'admin-token'));
  if (!URL.canParse(url)) throw new CliError(`${url} is not a URL`, exitCodes.usage);
  // Snippets for clients name the MCP endpoint; the address of the service is what stands before it.
  return { url: url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, ''), token };
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** The REST API as a person uses it: the answer, or why there is none. */
export class RestClient {
  constructor(private readonly service: Service) {}

  async request(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    const { url, token } = this.service;
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new CliError(
        `There is no service at ${url}. Start it with "npm start", or say where it is with --url.`,
        exitCodes.unreachable,
      );
    });
    const text = await answer.text();
    const parsed = parse(text);
    if (answer.ok || path.endsWith('/health')) return parsed;
    throw refusal(answer.status, parsed);
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return { detail: text.slice(0, 500) };
  }
}

function refusal(status: number, body: unknown): CliError {
  if (status === 401) {
    return new CliError(
      'The service wants a token: use --token, SWITCHBOARD_TOKEN, or run this where its data folder is.',
      exitCodes.unauthorized,
    );
  }
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? body.detail : body;
  const text = typeof detail === 'string' ? detail : JSON.stringify(detail);
  return new CliError(text, status === 403 ? exitCodes.unauthorized : exitCodes.failed);
}
