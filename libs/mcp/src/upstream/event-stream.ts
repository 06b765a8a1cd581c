import { LineSplitter } from './line-splitter.js';

export interface StreamEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string | undefined;
}

interface EventHandlers {
  onEvent(event: StreamEvent): void;
  onRetry(ms: number): void;
  onOversized(): void;
}

/** `text/event-stream`, lines ended by LF or CRLF, an event of at most `maxBytes`. */
export class EventStream {
  private type = '';
  private data: string[] = [];
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
    const text = line.toString('utf8');
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.keep(value, line.length);
    else if (field === 'event') this.type = value;
    else if (field === 'id' && !value.includes('\0')) this.id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.handlers.onRetry(Number(value));
  }

  private keep(value: string, bytes: number): void {
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
      this.handlers.onEvent({ type: type || 'message', data: data.join('\n'), id });
    }
  }
}
