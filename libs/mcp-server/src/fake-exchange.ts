import { IncomingMessage, ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '@app/platform';

/** A connection in memory, whose client reads only while it is not stuck. */
class FakeSocket extends Duplex {
  text = '';
  bytesWritten = 0;
  private stuck: (() => void) | undefined;
  private isStuck = false;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, taken: () => void): void {
    const take = (): void => {
      this.text += chunk.toString();
      this.bytesWritten += chunk.length;
      taken();
    };
    if (this.isStuck) this.stuck = take;
    else take();
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  stick(): void {
    this.isStuck = true;
  }

  unstick(): void {
    this.isStuck = false;
    this.stuck?.();
    this.stuck = undefined;
  }
}

/** One HTTP exchange without a network: a real response of Node, on a connection in memory. */
export class FakeExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  private readonly socket = new FakeSocket();

  constructor(method = 'POST', headers: Readonly<Record<string, string>> = {}) {
    const socket = this.socket as unknown as Socket;
    this.request = Object.assign(new IncomingMessage(socket), { method, headers });
    this.response = new ServerResponse(this.request);
    this.response.assignSocket(socket);
    // As a server of Node does.
    this.response.once('finish', () => {
      this.response.detachSocket(socket);
      process.nextTick(() => this.response.emit('close'));
    });
  }

  /** Everything that was written until now is read, unless the client stopped reading. */
  async settled(): Promise<this> {
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    return this;
  }

  get hasEnded(): boolean {
    return this.response.writableFinished;
  }

  get status(): number {
    return Number(/^HTTP\/1.1 (\d+)/.exec(this.socket.text)?.[1]);
  }

  get headers(): Readonly<Record<string, string>> {
    const [, ...lines] = this.head.split('\r\n');
    return Object.fromEntries(lines.map((line) => line.split(': ', 2)));
  }

  /** The text after the headers. */
  get text(): string {
    return this.socket.text.slice(this.head.length + 4);
  }

  get json(): JsonObject {
    return JSON.parse(this.text) as JsonObject;
  }

  /** The events of a stream. */
  get events(): readonly { readonly id: string | undefined; readonly message: JsonObject }[] {
    return [...this.text.matchAll(/event: message\n(?:id: (\S+)\n)?data: (.+)\n\n/g)].map(
      ([, id, data = '']) => ({ id, message: JSON.parse(data) as JsonObject }),
    );
  }

  get messages(): readonly JsonObject[] {
    return this.events.map(({ message }) => message);
  }

  stopReading(): void {
    this.socket.stick();
  }

  startReading(): void {
    this.socket.unstick();
  }

  disconnect(): void {
    this.socket.destroy();
  }

  private get head(): string {
    return this.socket.text.split('\r\n\r\n', 1)[0] ?? '';
  }
}
