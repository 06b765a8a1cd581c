import { Agent, createServer, request, type Server, type ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;

interface Target {
  readonly url: string;
  isReady: boolean;
}

/** A round-robin load balancer that polls readiness, keeps connections alive and repeats nothing. */
export class Balancer {
  /** Requests that a target refused, or answered with nothing or a 5xx. */
  readonly failures: string[] = [];
  answered = 0;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly server: Server;
  private targets: Target[] = [];
  private next = 0;
  private isClosed = false;
  private readonly streams = new Set<() => void>();

  constructor() {
    this.server = createServer((incoming, response) => this.pass(incoming, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = this.server.address() as AddressInfo;
    void this.poll();
    return `http://127.0.0.1:${port}`;
  }

  add(url: string): void {
    this.targets.push({ url, isReady: false });
  }

  remove(url: string): void {
    this.targets = this.targets.filter((target) => target.url !== url);
  }

  isReady(url: string): boolean {
    return this.targets.some((target) => target.url === url && target.isReady);
  }

  /** Ends connections to clients, of which some wait for the end of a stream. */
  endStreams(): void {
    for (const end of this.streams) end();
  }

  close(): void {
    this.isClosed = true;
    this.agent.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }

  private async poll(): Promise<void> {
    while (!this.isClosed) {
      for (const target of this.targets) {
        target.isReady = await fetch(`${target.url}/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        );
      }
      await sleep(POLL_MS);
    }
  }

  private pass(incoming: IncomingMessage, response: ServerResponse): void {
    const ready = this.targets.filter((target) => target.isReady);
    const target = ready[this.next++ % Math.max(1, ready.length)];
    let isGone = false;
    const fail = (why: string): void => {
      if (isGone) return;
      this.failures.push(`${target?.url ?? 'no target'}: ${why}`);
      if (!response.headersSent) response.writeHead(502).end();
      else response.destroy();
    };
    if (!target) return fail('none is ready');
    const { method = 'GET', headers, url = '/' } = incoming;
    const outgoing = request(new URL(url, target.url), {
      method,
      headers: { ...headers, host: new URL(target.url).host, connection: 'keep-alive' },
      agent: this.agent,
    });
    outgoing.on('error', ({ message }) => fail(message));
    outgoing.on('response', (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode >= 500) this.failures.push(`${target.url}: ${statusCode}`);
      else this.answered += 1;
      response.writeHead(statusCode, endToEnd(answer.rawHeaders)).flushHeaders();
      answer.on('error', ({ message }) => fail(message));
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        const end = (): unknown => response.destroy();
        this.streams.add(end);
        response.once('close', () => this.streams.delete(end));
      }
      answer.pipe(response);
    });
    response.once('close', () => {
      isGone = !response.writableFinished;
      outgoing.destroy();
    });
    incoming.pipe(outgoing);
  }
}

/** Names and values in turn, without those of the connection to the target. */
function endToEnd(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    if (!/^(connection|keep-alive|transfer-encoding)$/i.test(name)) kept.push(name, value);
  }
  return kept;
}
