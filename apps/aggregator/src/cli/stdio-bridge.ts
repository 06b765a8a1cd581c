import {
  headerText,
  idIn,
  idText,
  type Incoming,
  mcpHeader,
  messageBytes,
  PROTOCOL_VERSION_META_KEY,
  readMessage,
  rpcCode,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
  subjectOf,
  ToolHeaders,
} from '@app/mcp-protocol';
import {
  isJsonObject,
  JsonFault,
  type JsonObject,
  LineSplitter,
  onOneLine,
  parseKept,
  UNCOUNTED,
  withoutByteOrderMark,
  RawJsonObject,
} from '@app/platform';
import { EventStream } from '@app/http1';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** The service has the same limit for a message. */
const LINE_FEED = Buffer.from('\n');
const MAX_MESSAGE_BYTES = 256 * 1_048_576;
/** For pending requests when the client closes its input. */
const FINISH_WITHIN_MS = 10_000;

export interface BridgeOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * Bridges a STDIO client to the service's HTTP endpoint, for clients that can only start a program. Supports both
 * protocol eras; a session that the service has lost, for example by a restart, is initialized again without the client
 * noticing.
 */
export async function bridgeStdio(options: BridgeOptions): Promise<void> {
  const bridge = new StdioBridge(options);
  // Not `readline`: it also splits at U+2028, which a JSON string may contain.
  const limits = { maxBytes: MAX_MESSAGE_BYTES, room: UNCOUNTED };
  const lines = new LineSplitter(limits, {
    onLine: (line) => bridge.take(line),
    onOversized: () => bridge.refuse(),
  });
  for await (const chunk of options.input) lines.push(chunk as Buffer);
  lines.push(LINE_FEED);
  await bridge.close();
}

class StdioBridge {
  private readonly running = new Map<RpcId, AbortController>();
  private readonly passing = new Set<Promise<void>>();
  private readonly toolHeaders = new ToolHeaders();
  /** The client's initialize messages, to initialize the session again. */
  private handshake: { readonly message: RpcRequest; readonly line: Buffer } | undefined;
  private sessionId: string | undefined;
  private renewing: Promise<void> | undefined;
  private standing: AbortController | undefined;

  constructor(private readonly options: BridgeOptions) {}

  take(line: Buffer): void {
    const text = withoutByteOrderMark(line);
    if (text.toString().trim() === '') return;
    const body = parseKept(text, 1);
    if (body instanceof JsonFault) return this.refuse(body);
    const incoming = readMessage(body);
    const passing = this.pass(incoming, text);
    // A subscription stream has no response to wait for.
    if (incoming.kind === 'request' && incoming.message.method === 'subscriptions/listen') return;
    this.passing.add(passing);
    void passing.finally(() => this.passing.delete(passing));
  }

  refuse(fault?: JsonFault): void {
    const message = fault ? `Parse error: ${fault.message}` : 'Parse error: the line is too long';
    this.write({ jsonrpc: '2.0', id: null, error: { code: rpcCode.parseError, message } });
  }

  /** Requests sent before the client closed its input are answered first. */
  async close(): Promise<void> {
    const late = sleep(FINISH_WITHIN_MS, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.passing), late]);
    for (const controller of this.running.values()) controller.abort();
    this.standing?.abort();
    if (this.sessionId === undefined) return;
    const headers = this.headersOfSession();
    await fetch(this.options.url, { method: 'DELETE', headers }).catch(() => undefined);
  }

  private async pass(incoming: Incoming, line: Buffer): Promise<void> {
    if (incoming.kind === 'invalid') {
      const error = { code: rpcCode.invalidRequest, message: 'Invalid Request' };
      return this.write({ jsonrpc: '2.0', id: null, error });
    }
    const { message } = incoming;
    const request = incoming.kind === 'request' ? incoming.message : undefined;
    if (incoming.kind === 'notification' && this.stopsStream(incoming.message.params)) return;
    if (request?.method === 'initialize') this.handshake = { message: request, line };
    const controller = new AbortController();
    if (request) this.running.set(request.id, controller);
    try {
      const last = await this.post(message, line, controller.signal);
      if (request && !isAnswer(last, request.id)) throw new Error('it ended without an answer');
      if ('method' in message && message.method === 'notifications/initialized') this.stand();
    } catch (error) {
      const isWanted = request && this.running.get(request.id) === controller;
      if (isWanted && !controller.signal.aborted) this.fail(request, error);
    } finally {
      if (request && this.running.get(request.id) === controller) this.running.delete(request.id);
    }
  }

  /** A stateless request is cancelled by closing its stream. */
  private stopsStream(params: JsonObject | undefined): boolean {
    const id = params && idIn(params, 'requestId');
    if (id === undefined) return false;
    const controller = this.running.get(id);
    // A cancelled request gets no response.
    this.running.delete(id);
    if (this.sessionId !== undefined) return false;
    controller?.abort();
    return true;
  }

  /** Returns the last message of the response. */
  private async post(
    message: RpcMessage,
    text: Buffer,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const begins = message === this.handshake?.message;
    if (this.renewing && !begins) await this.renewing;
    const { sessionId } = this;
    const headers = { ...this.headersOfSession(), ...this.headersOf(message) };
    const answer = await fetch(this.options.url, { method: 'POST', headers, body: text, signal });
    if (answer.status === 404 && sessionId !== undefined && !begins) {
      await answer.body?.cancel();
      await this.renew(sessionId);
      return this.post(message, text, signal);
    }
    if (begins) {
      this.sessionId = answer.headers.get(mcpHeader.sessionId) ?? undefined;
    }
    return this.relay(answer);
  }

  /** Once, however many requests find the session lost. */
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
    const body = this.handshake.line;
    const answer = await fetch(this.options.url, { method: 'POST', headers, body });
    await answer.text();
    this.sessionId = answer.headers.get(mcpHeader.sessionId) ?? undefined;
    if (this.sessionId === undefined) throw new Error(`no new session: HTTP ${answer.status}`);
    const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const ready = { method: 'POST', headers: this.headersOfSession(), body: initialized };
    await (await fetch(this.options.url, ready)).text();
    this.stand();
  }

  /** Keeps the standing stream for server-initiated messages open. */
  private stand(): void {
    this.standing?.abort();
    if (this.sessionId === undefined) return;
    const controller = new AbortController();
    this.standing = controller;
    const headers = this.headersOfSession();
    fetch(this.options.url, { headers, signal: controller.signal })
      .then((answer) => this.relay(answer))
      // If the service goes away, the next request notices and initializes a new session.
      .catch(() => undefined);
  }

  /** Returns the last message. */
  private async relay(answer: Response): Promise<Buffer | undefined> {
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && answer.body) {
      let last: Buffer | undefined;
      const events = new EventStream(
        { maxBytes: MAX_MESSAGE_BYTES, room: UNCOUNTED },
        {
          onEvent: ({ data }) => {
            last = data;
            this.writeLine(data);
          },
          onRetry: () => undefined,
          onOversized: () => undefined,
        },
      );
      for await (const chunk of answer.body) events.push(Buffer.from(chunk));
      return last;
    }
    const body = Buffer.from(await answer.arrayBuffer());
    if (body.length === 0) return undefined;
    const text = body.toString('utf8', 0, 500);
    const isMessage = type.startsWith('application/json') && text.startsWith('{"jsonrpc"');
    if (isMessage) this.writeLine(body);
    else if (!answer.ok) throw new Error(`HTTP ${answer.status}: ${text}`);
    return body;
  }

  private fail(request: RpcRequest, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const isSent = !isRefusedConnection(cause);
    const advice =
      isSent && request.method === 'tools/call'
        ? '. The call may have been carried out: do not repeat it blindly'
        : '';
    const message = `Switchboard at ${this.options.url} does not answer: ${reason}${advice}`;
    const data = { outcome: isSent ? 'unknown' : 'not executed' };
    const error = { code: rpcCode.serverError, message, data };
    this.write({ jsonrpc: '2.0', id: request.id, error });
  }

  private headersOfSession(): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.options.token && { authorization: `Bearer ${this.options.token}` }),
      ...(this.sessionId !== undefined && { [mcpHeader.sessionId]: this.sessionId }),
    };
  }

  /** Headers that mirror parts of a stateless message. */
  private headersOf(message: RpcMessage): Record<string, string> {
    if (!('method' in message)) return {};
    const meta = message.params?.['_meta'];
    const version = isJsonObject(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
    if (typeof version !== 'string' || !('id' in message)) return {};
    const subject = subjectOf(message);
    return {
      [mcpHeader.protocolVersion]: version,
      [mcpHeader.method]: message.method,
      ...(subject !== undefined && { [mcpHeader.name]: headerText(subject) }),
      ...(message.method === 'tools/call' &&
        this.toolHeaders.of(subject, message.params?.['arguments'])),
    };
  }

  private write(message: RpcMessage): void {
    this.writeLine(Buffer.from(messageBytes(message)));
  }

  private writeLine(json: Buffer): void {
    if (json.includes('"x-mcp-header"')) this.noteToolHeaders(json.toString('utf8'));
    this.options.output.write(Buffer.concat([onOneLine(json), LINE_FEED]));
  }

  private noteToolHeaders(text: string): void {
    const message = readMessage(JSON.parse(text));
    if (message.kind !== 'response' || !('result' in message.message)) return;
    this.toolHeaders.note(message.message.result['tools']);
  }
}

function isAnswer(json: Buffer | undefined, id: RpcId): boolean {
  const message = json && RawJsonObject.read(json);
  if (!message || message.raw('id')?.toString() !== idText(id)) return false;
  return message.has('result') || message.has('error');
}

function isRefusedConnection(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
