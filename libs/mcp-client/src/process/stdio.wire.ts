import {
  type BothEnds,
  jsonLine,
  LineSplitter,
  type MessageLimits,
  PacedReader,
  ReadingShare,
  UNCOUNTED,
} from '@app/platform';
import type { Readable } from 'node:stream';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { messageBetween, messageText, type RpcMessage } from '@app/mcp-protocol';
import { LogRing } from './log-ring.js';
import { LogText, MAX_LOG_LINE_BYTES } from './log-text.js';
import { ProcessTree } from './process-tree.js';
import type { Program } from './start-problem.js';
import type { CloseOptions } from '../upstream.js';
import { ConnectFailed, ConnectionLost, tooMuch } from '../upstream.errors.js';
import type { Wire, WireListener } from '../wire/wire.js';

/** Bytes buffered for a process that does not read its stdin. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** A line this many times the allowed size is taken to be endless. */
const ENDLESS = 16;
/** How long an error of its input waits for the exit that caused it. */
const EXIT_WITHIN_MS = 2_000;
/** After the exit of the process, its last output may still be in the pipe. */
const DRAIN_MS = 200;
/** Maximum number of these waits: a busy service reads slowly, and a forked process may keep writing. */
const MAX_DRAINS = 10;

/** A child process that speaks JSON-RPC on stdin and stdout, one message a line. */
export class StdioWire implements Wire {
  readonly kind = 'stdio';
  readonly epoch = 0;
  readonly reading = new ReadingShare();
  private readonly ring = new LogRing();
  private readonly logText: LogText;
  private tree: ProcessTree | undefined;
  private starting: Promise<ProcessTree> | undefined;
  private ended = false;

  constructor(
    private readonly program: Program,
    private readonly limits: MessageLimits,
    secrets: readonly string[],
    private readonly onLogLine: (line: string) => void,
  ) {
    this.logText = new LogText(secrets);
  }

  async open(listener: WireListener): Promise<void> {
    this.starting = ProcessTree.start({
      ...this.program,
      // Without our own environment, which holds our secrets.
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
    const messages = new LineSplitter(this.limits, {
      onLine: (line) => this.receive(line, listener),
      onOversized: (ends) => this.throwAway(ends, listener),
    });
    const output = this.read(stdout, (piece) => {
      messages.push(piece);
      if (messages.lineBytes > this.limits.maxBytes * ENDLESS) {
        end('it wrote a line without an end');
        void tree.end(true);
      }
    });
    const logLines = new LineSplitter(
      { maxBytes: MAX_LOG_LINE_BYTES, room: UNCOUNTED },
      { onLine: (line) => this.log(line), onOversized: ({ head }) => this.log(head, '', true) },
    );
    const errors = this.read(stderr, (piece) => logLines.push(piece));
    stderr.once('end', () => errors.onceRead(() => logLines.end()));
    // Ignore pipe errors: the exit status is the better reason, and the log is for server output only.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    const noMore = (): void => {
      // No more answers can come. If the process exited, its exit status is the better reason.
      void Promise.race([tree.exited, after(DRAIN_MS)]).then((exit) => {
        end(exit ?? 'it closed its output');
        return tree.end(true);
      });
    };
    stdout.once('end', () => output.onceRead(noMore));
    void tree.exited.then(async (exit) => {
      output.hurry();
      errors.hurry();
      for (let i = 0; i < MAX_DRAINS && (i === 0 || output.isHolding); i++) await after(DRAIN_MS);
      end(exit);
      await tree.end(true);
    });
  }

  send(message: RpcMessage): Promise<void> {
    const { tree } = this;
    const stdin = tree?.child.stdin;
    if (!tree || this.ended || !stdin?.writable) {
      return Promise.reject(new ConnectionLost('its input is closed', 'no'));
    }
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      return Promise.reject(new ConnectionLost('it does not read its input', 'no'));
    }
    return new Promise((resolve, reject) => {
      stdin.write(`${jsonLine(messageText(message))}\n`, (error) => {
        if (!error) return resolve();
        // Mostly it has exited, which is known a moment later and the better reason.
        void Promise.race([tree.exited, after(EXIT_WITHIN_MS)]).then((exit) =>
          reject(new ConnectionLost(exit ?? 'its input was closed', 'unknown', error)),
        );
      });
    });
  }

  abandon(): void {}

  setProtocolVersion(): void {}

  mayHaveSent(): boolean {
    return true;
  }

  forget(): void {}

  listen(): void {}

  stopListening(): void {}

  logs(): readonly string[] {
    return this.ring.all();
  }

  async close(options: CloseOptions): Promise<void> {
    this.ended = true;
    // A process that is still starting has to be ended too.
    const tree = await this.starting?.catch(() => undefined);
    await tree?.end(options.force === true);
  }

  private read(stream: Readable, read: (piece: Buffer) => void): PacedReader {
    const reader = new PacedReader(stream, read, this.reading);
    stream.on('data', (chunk: Buffer) => reader.push(chunk));
    return reader;
  }

  private receive(line: Buffer, listener: WireListener): void {
    if (line.length === 0 || this.ended) return;
    if (mayBeMessage(line) && listener.onFrame(line)) return;
    this.log(line, '[stdout] ');
  }

  private throwAway(ends: BothEnds, listener: WireListener): void {
    if (this.ended) return;
    const { isAnswer, id } = messageBetween(ends);
    if (!mayBeMessage(ends.head)) this.log(ends.head, '[stdout] ', true);
    else if (isAnswer) listener.onOversized(id, tooMuch(ends.excess, this.limits.maxBytes));
  }

  private log(line: Buffer, prefix = '', isCut = false): void {
    this.reading.noteMessage();
    const text = this.logText.of(line, prefix, isCut);
    this.ring.add(text);
    this.onLogLine(text);
  }
}

/** An object or, in one revision, an array: anything else is no message and need not be decoded. */
function mayBeMessage(line: Buffer): boolean {
  let at = 0;
  while (line[at] === SPACE || line[at] === TAB || line[at] === CARRIAGE_RETURN) at++;
  return line[at] === OPEN_BRACE || line[at] === OPEN_BRACKET || line[at] === BYTE_ORDER_MARK;
}
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
/** The first byte of its UTF-8 encoding. */
const BYTE_ORDER_MARK = 0xef;

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
