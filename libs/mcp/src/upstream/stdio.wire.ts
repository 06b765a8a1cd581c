import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import type { OutgoingMessage, RequestId } from './json-rpc.js';
import { LineSplitter } from './line-splitter.js';
import { LogRing } from './log-ring.js';
import { ProcessTree, type Program } from './process-tree.js';
import type { CloseOptions } from './upstream.js';
import { ConnectFailed, ConnectionLost } from './upstream.errors.js';
import type { Wire, WireListener } from './wire.js';

const MAX_LOG_LINE_BYTES = 16_384;
const MAX_LOG_LINE_CHARS = 2_000;
/** Shorter values would turn ordinary words of a log into asterisks. */
const MIN_SECRET_CHARS = 6;
/** What a process that does not read its input may make us hold. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** A line that is still going on at so many times the allowed size is not going to end. */
const ENDLESS = 16;
/** After the process is gone, what it wrote last may still be in the pipe. */
const DRAIN_MS = 200;

/** A child process that speaks JSON-RPC on stdin and stdout, one message a line. */
export class StdioWire implements Wire {
  readonly kind = 'stdio';
  readonly epoch = 0;
  private readonly ring = new LogRing();
  private readonly secrets: readonly string[];
  private tree: ProcessTree | undefined;
  private starting: Promise<ProcessTree> | undefined;
  private ended = false;

  constructor(
    private readonly program: Program,
    private readonly maxMessageBytes: number,
    secrets: readonly string[],
    private readonly onLogLine: (line: string) => void,
  ) {
    this.secrets = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS);
  }

  async open(listener: WireListener): Promise<void> {
    this.starting = ProcessTree.start({
      ...this.program,
      // Not our own environment: it holds our secrets.
      env: { ...getDefaultEnvironment(), ...this.program.env },
    });
    const tree = await this.starting;
    if (this.ended) throw new ConnectFailed('it is no longer wanted');
    this.tree = tree;
    const { stdin, stdout, stderr } = tree.child;
    const end = (reason: string): void => {
      if (this.ended) return;
      this.ended = true;
      listener.onEnd(new ConnectionLost(reason, 'unknown'));
    };
    const messages = new LineSplitter(this.maxMessageBytes, {
      onLine: (line) => this.receive(line, listener),
      onOversized: (head, tail) => listener.onOversized(requestIdIn(head, tail)),
    });
    stdout.on('data', (chunk: Buffer) => {
      messages.push(chunk);
      if (messages.lineBytes > this.maxMessageBytes * ENDLESS) {
        end('it wrote a line without an end');
        void tree.end(true);
      }
    });
    const log = (line: Buffer): void => this.log(line.toString('utf8'));
    const logLines = new LineSplitter(MAX_LOG_LINE_BYTES, { onLine: log, onOversized: log });
    stderr.on('data', (chunk: Buffer) => logLines.push(chunk));
    for (const stream of [stdin, stdout, stderr]) {
      stream.on('error', (error) => this.log(`[switchboard] ${error.message}`));
    }
    stdout.once('end', () => {
      // No answer can come any more. Its exit says more, if that is what happened.
      void Promise.race([tree.exited, after(DRAIN_MS)]).then((exit) => {
        end(exit ?? 'it closed its output');
        return tree.end(true);
      });
    });
    void tree.exited.then(async (exit) => {
      await after(DRAIN_MS);
      end(exit);
      await tree.end(true);
    });
  }

  send(message: OutgoingMessage): Promise<void> {
    const stdin = this.tree?.child.stdin;
    if (this.ended || !stdin?.writable) {
      return Promise.reject(new ConnectionLost('its input is closed', 'no'));
    }
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      return Promise.reject(new ConnectionLost('it does not read its input', 'no'));
    }
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(new ConnectionLost('its input was closed', 'unknown', error));
        else resolve();
      });
    });
  }

  abandon(): void {}

  setProtocolVersion(): void {}

  listen(): void {}

  logs(): readonly string[] {
    return this.ring.all();
  }

  async close(options: CloseOptions): Promise<void> {
    this.ended = true;
    // One that was just being started has to be ended as well.
    const tree = await this.starting?.catch(() => undefined);
    await tree?.end(options.force === true);
  }

  private receive(line: Buffer, listener: WireListener): void {
    if (line.length === 0 || this.ended) return;
    if (!listener.onFrame(line)) this.log(`[stdout] ${line.toString('utf8')}`);
  }

  private log(text: string): void {
    const masked = this.secrets.reduce((line, secret) => line.replaceAll(secret, '********'), text);
    const line = masked.slice(0, MAX_LOG_LINE_CHARS);
    this.ring.add(line);
    this.onLogLine(line);
  }
}

/** Servers put the id at the front (Python) or at the end (Node) of an answer. */
function requestIdIn(head: Buffer, tail: Buffer): RequestId | undefined {
  const front = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*,/;
  const found =
    front.exec(head.toString('latin1')) ??
    /"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(tail.toString('latin1'));
  return found ? Number(found[1]) : undefined;
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
