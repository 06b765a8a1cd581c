import { type Answer, send } from './http.js';

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Calls a tool over REST that takes a text. */
export function callTool(
  { url, token }: { readonly url: string; readonly token: string },
  name: string,
): Promise<Answer> {
  const body = JSON.stringify({ name, arguments: { text: 'hi' } });
  return send(url, '/api/v1/tools/call', { method: 'POST', token, body });
}

/** The REST API of a running service, used with an admin token. */
export class Api {
  constructor(private readonly service: { readonly url: string; readonly token: string }) {}

  async call(method: string, path: string, body?: object): Promise<ApiAnswer> {
    const { url, token } = this.service;
    const answer = await send(url, `/api/v1/aggregator${path}`, {
      method,
      token,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: isRecord(answer.body) ? answer.body : {} };
  }

  async register(body: object): Promise<string> {
    const { status, body: server } = await this.call('POST', '/servers', body);
    if (status !== 201) throw new Error(`registering failed: ${JSON.stringify(server)}`);
    return String(server['id']);
  }

  async status(id: string): Promise<unknown> {
    return (await this.call('GET', `/servers/${id}`)).body['status'];
  }

  /** Of all servers, by name. */
  async statuses(): Promise<Record<string, unknown>> {
    const { body } = await this.call('GET', '/servers');
    const servers = body['servers'] as { name: string; status: string }[];
    return Object.fromEntries(servers.map(({ name, status }) => [name, status]));
  }

  /** Event types, oldest first. */
  async history(id: string): Promise<string[]> {
    const { body } = await this.call('GET', `/servers/${id}/history`);
    return (body['events'] as { event_type: string }[]).map((event) => event.event_type).reverse();
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
