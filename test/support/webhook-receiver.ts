import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly messageId: string;
  readonly event: {
    readonly id: string;
    readonly topic: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly isSigned: boolean;
}

/** A program that takes webhooks, at one path for each. */
export interface WebhookReceiver {
  urlOf(path: string): string;
  /** Events that were taken, in order; with duplicates. */
  of(path: string): readonly Received[];
  /** Verifies what comes at this path. */
  setSecret(path: string, secret: string): void;
  /** Whether the n-th request is refused with 500. */
  failWhen(isRefused: (request: number) => boolean): void;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const taken = new Map<string, Received[]>();
  const secrets = new Map<string, string>();
  let requests = 0;
  let isRefused: (request: number) => boolean = () => false;
  const take = async (request: IncomingMessage): Promise<number> => {
    const { url: path = '/' } = request;
    const body = await textOf(request);
    if (isRefused(++requests)) return 500;
    const messageId = String(request.headers['webhook-id']);
    const event = JSON.parse(body) as Received['event'];
    const isSigned = signatureOf(request, body, secrets.get(path) ?? '');
    taken.set(path, [...(taken.get(path) ?? []), { messageId, event, isSigned }]);
    return 204;
  };
  const server = createServer((request, response) => {
    take(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path) => `http://127.0.0.1:${port}${path}`,
    of: (path) => taken.get(path) ?? [],
    setSecret: (path, secret) => void secrets.set(path, secret),
    failWhen: (fails) => void (isRefused = fails),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** As a receiver verifies it, by https://www.standardwebhooks.com. */
function signatureOf({ headers }: IncomingMessage, body: string, secret: string): boolean {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return headers['webhook-signature'] === `v1,${mac}` && /^\d{10}$/.test(timestamp);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
