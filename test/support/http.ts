import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** Undefined when the body is not JSON. */
  readonly body: unknown;
}

export interface Sending {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Sends one request as given: unlike `fetch` it allows any Host and Origin header, and does not normalize the path. Of
 * an event stream, which has no end, only the head is read.
 */
export function send(url: string, path: string, sending: Sending = {}): Promise<Answer> {
  const { method = 'GET', token, headers = {}, body } = sending;
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        path,
        method,
        agent: false,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
          ...headers,
        },
      },
      (response) => {
        if (method === 'GET' && response.headers['content-type'] === 'text/event-stream') {
          response.destroy();
          return resolve({
            status: response.statusCode ?? 0,
            headers: headersOf(response.headers),
            text: '',
            body: undefined,
          });
        }
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: headersOf(response.headers),
            text,
            body: parsed(text),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends bytes over a plain connection; returns what is received until it closes. */
export function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

function headersOf(headers: IncomingHttpHeaders): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [key, value?.toString()]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
