import { z } from 'zod';

const MODERN = '2026-07-28';
const answer = z.looseObject({
  result: z.looseObject({}).optional(),
  error: z
    .looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() })
    .optional(),
});

export interface RawCall {
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type RawAnswer = z.infer<typeof answer>;

/** An MCP client of either era that sends exactly the `_meta` and the headers that a test gives it. */
export interface RawClient {
  call(tool: string, args?: object, extras?: RawCall): Promise<RawAnswer>;
}

export async function rawClient(
  era: 'legacy' | 'modern',
  url: string,
  token: string,
): Promise<RawClient> {
  let lastId = 0;
  const post = async (
    method: string,
    params: object,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params }),
    });
  const read = async (response: Response): Promise<RawAnswer> => {
    const text = await response.text();
    const data = text.startsWith('event:') ? /^data: (.*)$/m.exec(text)?.[1] : text;
    return answer.parse(JSON.parse(data ?? ''));
  };
  if (era === 'modern') {
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    return {
      call: async (tool, args = {}, { meta, headers } = {}) => {
        const params = { name: tool, arguments: args, _meta: { ...envelope, ...meta } };
        const own = {
          'mcp-protocol-version': MODERN,
          'mcp-method': 'tools/call',
          'mcp-name': tool,
        };
        return read(await post('tools/call', params, { ...own, ...headers }));
      },
    };
  }
  const clientInfo = { name: 'raw', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post('initialize', opening, {});
  await opened.text();
  const session = {
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  return {
    call: async (tool, args = {}, { meta, headers } = {}) => {
      const params = { name: tool, arguments: args, ...(meta && { _meta: meta }) };
      return read(await post('tools/call', params, { ...session, ...headers }));
    },
  };
}
