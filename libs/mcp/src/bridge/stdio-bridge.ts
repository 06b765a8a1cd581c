import { PROTOCOL_VERSION_META_KEY } from '../protocol.js';
import { isJsonObject, type JsonObject, onOneLine } from '@app/platform';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { EventStream } from '../upstream/event-stream.js';
import {
  headerText,
  type ParamHeader,
  paramHeaders,
  paramHeadersOf,
} from '../upstream/param-headers.js';
import { subjectOf } from '../serving/modern-rules.js';
import {
  type Incoming,
  readMessage,
  rpcCode,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
} from '../serving/rpc.js';

/** The service is ours and reads no more than this either. */
const LINE_FEED = Buffer.from('\n');
const MAX_MESSAGE_BYTES = 256 * 1_048_576;

export interface BridgeOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * For clients that can only start a program: what they write to it goes to the service, what the service
 * answers comes back. Both eras pass; a session that the service no longer knows (it was started
 * anew) is begun again without the client noticing.
 */
export async function bridgeStdio(options: BridgeOptions): Promise<void> {
  const bridge = new StdioBridge(options);
  for await (const line of createInterface({ input: options.input })) {
    if (line.trim() !== '') bridge.take(line);
  }
  await bridge.close();
}

class StdioBridge {
  private readonly running = new Map<RpcId, AbortController>();
  private readonly toolHeaders = new Map<string, readonly ParamHeader[]>();
  /** How the client began its session, to begin it again. */
  private handshake: RpcRequest | undefined;
  private sessionId: string | undefined;
  private renewing: Promise<void> | undefined;
  private standing: AbortController | undefined;

  constructor(private readonly options: BridgeOptions) {}

  take(line: string): void {
    let body: unknown;
    try {
      body = JSON.parse(line);
    } catch {
      const error = { code: rpcCode.parseError, message: 'Parse error' };
      return this.write({ jsonrpc: '2.0', id: null, error });
    }
    void this.pass(readMessage(body), line);
  }

  async close(): Promise<void> {
    for (const controller of this.running.values()) controller.abort();
    this.standing?.abort();
    if (this.sessionId === undefined) return;
    const headers = this.headersOfSession();
    await fetch(this.options.url, { method: 'DELETE', headers }).catch(() => undefined);
  }

  private async pass(incoming: Incoming, line: string): Promise<void> {
    if (incoming.kind === 'invalid') {
      const error = { code: rpcCode.invalidRequest, message: 'Invalid Request' };
      return this.write({ jsonrpc: '2.0', id: null, error });
    }
    const { message } = incoming;
    const request = incoming.kind === 'request' ? incoming.message : undefined;
    if (incoming.kind === 'notification' && this.stopsStream(incoming.message.params)) return;
    if (request?.method === 'initialize') this.handshake = request;
    const controller = new AbortController();
    if (request) this.running.set(request.id, controller);
    try {
      await this.post(message, line, controller.signal);
      if ('method' in message && message.method === 'notifications/initialized') this.stand();
    } catch (error) {
      if (request && !controller.signal.aborted) this.fail(request, error);
    } finally {
      if (request) this.running.delete(request.id);
    }
  }

  /** Stateless requests are cancelled by closing their stream. */
  private stopsStream(params: JsonObject | undefined): boolean {
    const id = params?.['requestId'];
    if (this.sessionId !== undefined || (typeof id !== 'string' && typeof id !== 'number'))
      return false;
    this.running.get(id)?.abort();
    return true;
  }

  private async post(message: RpcMessage, text: string, signal: AbortSignal): Promise<void> {
    if (this.renewing && message !== this.handshake) await this.renewing;
    const { sessionId } = this;
    const headers = { ...this.headersOfSession(), ...this.headersOf(message) };
    const answer = await fetch(this.options.url, { method: 'POST', headers, body: text, signal });
    if (answer.status === 404 && sessionId !== undefined && message !== this.handshake) {
      await answer.body?.cancel();
      await this.renew(sessionId);
      return this.post(message, text, signal);
    }
    if (message === this.handshake) {
      this.sessionId = answer.headers.get('mcp-session-id') ?? undefined;
    }
    await this.relay(answer);
  }

  /** Once, however many requests find the session gone. */
  private renew(lost: string): Promise<void> {
    if (this.sessionId !== lost) return this.renewing ?? Promise.resolve();
    this.renewing ??= this.begin().finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async begin(): Promise<void> {
    if (!this.handshake) throw new Error('the session was lost before it began');
    this.sessionId = undefined;
    const headers = this.headersOfSession();
    const body = JSON.stringify(this.handshake);
    const answer = await fetch(this.options.url, { method: 'POST', headers, body });
    await answer.text();
    this.sessionId = answer.headers.get('mcp-session-id') ?? undefined;
    if (this.sessionId === undefined) throw new Error(`no new session: HTTP ${answer.status}`);
    const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const ready = { method: 'POST', headers: this.headersOfSession(), body: initialized };
    await (await fetch(this.options.url, ready)).text();
    this.stand();
  }

  /** Keeps the stream open on which the service speaks unasked. */
  private stand(): void {
    this.standing?.abort();
    if (this.sessionId === undefined) return;
    const controller = new AbortController();
    this.standing = controller;
    const headers = this.headersOfSession();
    fetch(this.options.url, { headers, signal: controller.signal })
      .then((answer) => this.relay(answer))
      // When the service goes away the next request notices, and begins anew.
      .catch(() => undefined);
  }

  private async relay(answer: Response): Promise<void> {
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && answer.body) {
      const events = new EventStream(MAX_MESSAGE_BYTES, {
        onEvent: ({ data }) => this.writeLine(data),
        onRetry: () => undefined,
        onOversized: () => undefined,
      });
      for await (const chunk of answer.body) events.push(Buffer.from(chunk));
      return;
    }
    const body = Buffer.from(await answer.arrayBuffer());
    if (body.length === 0) return;
    const text = body.toString('utf8', 0, 500);
    const isMessage = type.startsWith('application/json') && text.startsWith('{"jsonrpc"');
    if (isMessage) this.writeLine(body);
    else if (!answer.ok) throw new Error(`HTTP ${answer.status}: ${text}`);
  }

  private fail(request: RpcRequest, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Switchboard at ${this.options.url} does not answer: ${reason}`;
    const error = { code: rpcCode.serverError, message };
    this.write({ jsonrpc: '2.0', id: request.id, error });
  }

  private headersOfSession(): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.options.token && { authorization: `Bearer ${this.options.token}` }),
      ...(this.sessionId !== undefined && { 'mcp-session-id': this.sessionId }),
    };
  }

  /** What a stateless message has to say in headers too. */
  private headersOf(message: RpcMessage): Record<string, string> {
    if (!('method' in message)) return {};
    const meta = message.params?.['_meta'];
    const version = isJsonObject(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
    if (typeof version !== 'string' || !('id' in message)) return {};
    const subject = subjectOf(message);
    return {
      'mcp-protocol-version': version,
      'mcp-method': message.method,
      ...(subject !== undefined && { 'mcp-name': headerText(subject) }),
      ...(message.method === 'tools/call' &&
        paramHeaders(this.toolHeaders.get(subject ?? '') ?? [], message.params?.['arguments'])),
    };
  }

  private write(message: RpcMessage): void {
    this.writeLine(Buffer.from(JSON.stringify(message)));
  }

  private writeLine(json: Buffer): void {
    if (json.includes('"x-mcp-header"')) this.noteToolHeaders(json.toString('utf8'));
    this.options.output.write(Buffer.concat([onOneLine(json), LINE_FEED]));
  }

  private noteToolHeaders(text: string): void {
    const message = readMessage(JSON.parse(text));
    if (message.kind !== 'response' || !('result' in message.message)) return;
    const { tools } = message.message.result;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      this.toolHeaders.set(tool['name'], paramHeadersOf(tool['inputSchema']));
    }
  }
}
