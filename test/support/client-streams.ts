const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const ACCEPT = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};

export interface Address {
  readonly url: string;
  readonly token: string;
}

/** The standing stream of a session, at the same replica or another; resolves once it is open. */
export async function standingStream(
  { url, token }: Address,
  path = '/mcp',
  streamsAt = url,
): Promise<Response> {
  const authorization = `Bearer ${token}`;
  const params = {
    protocolVersion: LEGACY,
    capabilities: {},
    clientInfo: { name: 'streams', version: '1' },
  };
  const begun = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...ACCEPT, authorization },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  const session = begun.headers.get('mcp-session-id');
  await begun.text();
  const stream = await fetch(`${streamsAt}${path}`, {
    headers: {
      accept: 'text/event-stream',
      authorization,
      'mcp-session-id': String(session),
      'mcp-protocol-version': LEGACY,
    },
  });
  expect(stream.status).toBe(200);
  return stream;
}

/** The stream of a stateless client that listens for changed lists. */
export async function listenStream({ url, token }: Address, path = '/mcp'): Promise<Response> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'streams', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const method = 'subscriptions/listen';
  const notifications = { toolsListChanged: true, promptsListChanged: true };
  const stream = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      ...ACCEPT,
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { notifications, _meta } }),
  });
  expect(stream.status).toBe(200);
  return stream;
}

/** Collects what a stream sends, until it is closed. */
export class HeardStream {
  private text = '';
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor({ body }: Response) {
    this.reader = body?.getReader();
    void this.read();
  }

  /** Whether it has sent that a list changed. */
  hasHeard(list: 'tools' | 'prompts' | 'resources'): boolean {
    return this.text.includes(`"notifications/${list}/list_changed"`);
  }

  close(): Promise<void> | undefined {
    return this.reader?.cancel();
  }

  private async read(): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = (await this.reader?.read()) ?? { done: true, value: undefined };
      if (done) return;
      this.text += decoder.decode(value, { stream: true });
    }
  }
}
