import {
  BothEnds,
  type Excess,
  GrowingBuffer,
  LineSplitter,
  type MessageLimits,
} from '@app/platform';

export interface StreamEvent {
  readonly type: string;
  readonly data: Buffer;
  readonly id: string | undefined;
}

const COLON = 0x3a;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const DATA = Buffer.from('data');
const DATA_FIELD = Buffer.from('data:');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const EMPTY = Buffer.alloc(0);
/** No known field is longer; an id goes back to the server in a header. */
const MAX_FIELD_BYTES = 1_024;

interface EventHandlers {
  onEvent(event: StreamEvent): void;
  onRetry(ms: number): void;
  onOversized(ends: BothEnds): void;
}

/** Parses `text/event-stream` of the HTML standard, with events of at most `maxBytes`. */
export class EventStream {
  private type = '';
  private readonly data: GrowingBuffer;
  private dataLines = 0;
  private dataBytes = 0;
  private id: string | undefined;
  private ends: BothEnds | undefined;
  private isFirstLine = true;
  private readonly lines: LineSplitter;

  constructor(
    private readonly limits: MessageLimits,
    private readonly handlers: EventHandlers,
  ) {
    this.data = new GrowingBuffer(limits.room);
    this.lines = new LineSplitter(
      limits,
      {
        onLine: (line, isOwned) => this.line(line, isOwned),
        onOversized: (ends) => this.oversizedLine(ends),
      },
      true,
    );
  }

  push(chunk: Buffer): void {
    this.lines.push(chunk);
  }

  /** Bytes of the current event, as sent. */
  get eventBytes(): number {
    return this.dataBytes + this.lines.lineBytes;
  }

  /** Releases the buffer of an unfinished event. */
  close(): void {
    this.lines.close();
    this.data.clear();
  }

  private line(sent: Buffer, isOwned: boolean): void {
    const line = this.isFirstLine ? withoutMark(sent) : sent;
    this.isFirstLine = false;
    if (line.length === 0) return this.dispatch();
    const colon = line.indexOf(COLON);
    if (colon === 0) return;
    const name = colon < 0 ? line : line.subarray(0, colon);
    const rest = line.subarray(line[colon + 1] === SPACE ? colon + 2 : colon + 1);
    const value = colon < 0 ? EMPTY : rest;
    if (name.equals(DATA)) this.keep(value, isOwned);
    else if (value.length <= MAX_FIELD_BYTES) this.note(name.toString('latin1'), value);
    // Without the id the stream cannot be resumed; with a truncated id it would resume at the wrong place.
    else if (name.equals(ID)) this.id = undefined;
  }

  private note(name: string, value: Buffer): void {
    // latin1 keeps the bytes: the id goes back in a header unchanged.
    const text = value.toString('latin1');
    if (name === 'event') this.type = text;
    else if (name === 'id' && !/[^\t\x20-\x7e\x80-\xff]/.test(text)) this.id = text;
    else if (name === 'retry' && /^\d{1,9}$/.test(text)) this.handlers.onRetry(Number(text));
  }

  private keep(value: Buffer, isOwned: boolean): void {
    const isFirst = this.dataLines++ === 0;
    this.dataBytes += value.length + 1;
    if (this.ends) return this.ends.add(value);
    if (this.dataBytes - 1 > this.limits.maxBytes) return this.skip('message', value);
    const kept = isFirst
      ? isOwned
        ? this.data.adopt(value)
        : this.data.append(value)
      : this.data.appendByte(LINE_FEED) && this.data.append(value);
    if (!kept) this.skip('budget', value);
  }

  private skip(excess: Excess, value: Buffer): void {
    this.ends = new BothEnds(excess);
    this.ends.add(this.data.take());
    this.ends.add(value);
  }

  /** Only `data` matters: other fields this long are ignored. */
  private oversizedLine(ends: BothEnds): void {
    this.isFirstLine = false;
    const { head } = ends;
    if (!head.subarray(0, DATA_FIELD.length).equals(DATA_FIELD)) return;
    this.dataLines++;
    this.skip(ends.excess, head.subarray(DATA_FIELD.length));
    this.ends?.add(ends.tail);
  }

  private dispatch(): void {
    const { type, ends, id } = this;
    const hasData = this.dataLines > 0;
    const data = this.data.take();
    this.type = '';
    this.dataLines = 0;
    this.dataBytes = 0;
    this.ends = undefined;
    if (ends) this.handlers.onOversized(ends);
    else if (hasData || id !== undefined) {
      this.handlers.onEvent({ type: type || 'message', data, id });
    }
  }
}
const ID = Buffer.from('id');

function withoutMark(line: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return line.subarray(0, length).equals(BYTE_ORDER_MARK) ? line.subarray(length) : line;
}
