import { LineSplitter } from './line-splitter.js';

export interface StreamEvent {
  readonly type: string;
  readonly data: Buffer;
  readonly id: string | undefined;
}

const COLON = 0x3a;
const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);
const LINE_FEED = Buffer.from('\n');

interface EventHandlers {
  onEvent(event: StreamEvent): void;
  onRetry(ms: number): void;
  onOversized(): void;
}

/** `text/event-stream`, lines ended by LF or CRLF, an event of at most `maxBytes`. */
export class EventStream {
  private type = '';
  private data: Buffer[] = [];
  private dataBytes = 0;
  private id: string | undefined;
  private oversized = false;
  private readonly lines: LineSplitter;

  constructor(
    private readonly maxBytes: number,
    private readonly handlers: EventHandlers,
  ) {
    this.lines = new LineSplitter(maxBytes, {
      onLine: (line) => this.line(line),
      onOversized: () => {
        this.oversized = true;
      },
    });
  }

  push(chunk: Buffer): void {
    this.lines.push(chunk);
  }

  private line(line: Buffer): void {
    if (line.length === 0) return this.dispatch();
    const colon = line.indexOf(COLON);
    if (colon === 0) return;
    const field = line.toString('utf8', 0, colon < 0 ? line.length : colon);
    const rest = line.subarray(line[colon + 1] === SPACE ? colon + 2 : colon + 1);
    const bytes = colon < 0 ? EMPTY : rest;
    if (field === 'data') return this.keep(bytes, line.length);
    const value = bytes.toString('utf8');
    if (field === 'event') this.type = value;
    else if (field === 'id' && !value.includes('\0')) this.id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.handlers.onRetry(Number(value));
  }

  private keep(value: Buffer, bytes: number): void {
    this.dataBytes += bytes;
    if (this.dataBytes > this.maxBytes) {
      this.oversized = true;
      this.data = [];
    } else this.data.push(value);
  }

  private dispatch(): void {
    const { type, data, id, oversized } = this;
    this.type = '';
    this.data = [];
    this.dataBytes = 0;
    this.oversized = false;
    if (oversized) this.handlers.onOversized();
    else if (data.length > 0 || id !== undefined) {
      this.handlers.onEvent({ type: type || 'message', data: joined(data), id });
    }
  }
}

function joined(lines: readonly Buffer[]): Buffer {
  const [first] = lines;
  if (lines.length === 1 && first) return first;
  return Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [LINE_FEED, line])));
}
