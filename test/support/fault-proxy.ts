import { createServer, connect, type Server, type Socket } from 'node:net';

/** Applied to new and open connections. */
export interface Fault {
  /** Delays responses by this time. */
  readonly delayMs?: number;
  /** Passes this many bytes of the responses of a connection; then applies `then`. */
  readonly passBytes?: number;
  readonly then?: 'reset' | 'end' | 'hold';
  /** Drops all data in both directions, without closing connections. */
  readonly blackhole?: boolean;
  readonly bytesPerSecond?: number;
  /** Resets new connections at once. */
  readonly refuse?: boolean;
}

/** A loopback TCP proxy that breaks connections as networks do. */
export class FaultProxy {
  fault: Fault = {};
  /** Bytes of requests that vanished. */
  swallowed = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private upstreamPort: number,
  ) {
    server.on('connection', (client) => this.accept(client));
  }

  static async before(upstreamUrl: string): Promise<FaultProxy> {
    const server = createServer();
    const proxy = new FaultProxy(server, Number(new URL(upstreamUrl).port));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  /** The same URL, through this proxy. */
  urlOf(upstreamUrl: string): string {
    const address = this.server.address();
    if (!address || typeof address === 'string') throw new Error('the proxy is closed');
    const url = new URL(upstreamUrl);
    url.port = String(address.port);
    return url.href;
  }

  /** Leads to another server from now on, as after a restart at the same address; open connections break. */
  leadTo(upstreamUrl: string): void {
    this.upstreamPort = Number(new URL(upstreamUrl).port);
    this.breakAll();
  }

  breakAll(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  private accept(client: Socket): void {
    if (this.fault.refuse) return void client.resetAndDestroy();
    const upstream = connect(this.upstreamPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
    }
    client.on('data', (bytes) => {
      if (this.fault.blackhole) this.swallowed += bytes.length;
      else upstream.write(bytes);
    });
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => {
      if (!this.fault.blackhole) client.destroy();
    });
    let passed = 0;
    let last = Promise.resolve();
    upstream.on('data', (bytes) => {
      last = last.then(() =>
        this.pass(
          bytes,
          client,
          () => passed,
          (n) => (passed = n),
        ),
      );
    });
  }

  private async pass(
    bytes: Buffer,
    client: Socket,
    passed: () => number,
    setPassed: (bytes: number) => void,
  ): Promise<void> {
    const { delayMs, passBytes, then, blackhole, bytesPerSecond } = this.fault;
    if (blackhole) return;
    if (delayMs) await pause(delayMs);
    const allowed = passBytes === undefined ? bytes.length : Math.max(0, passBytes - passed());
    const part = bytes.subarray(0, allowed);
    setPassed(passed() + part.length);
    if (bytesPerSecond === undefined) client.write(part);
    else {
      for (const byte of part) {
        client.write(Buffer.of(byte));
        await pause(1_000 / bytesPerSecond);
        if (client.destroyed) return;
      }
    }
    if (part.length === bytes.length) return;
    if (then === 'reset') setImmediate(() => client.resetAndDestroy());
    else if (then === 'end') client.end();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
