import {
  type BothEnds,
  type Excess,
  GrowingBuffer,
  type MessageLimits,
  type ReadingShare,
} from '@app/platform';
import { ContentDecoder } from './content-decoder.js';
import { EventStream, type StreamEvent } from './event-stream.js';
import type { AnswerHead } from './answer-head.js';

/** Bodies of refusals are only read for a JSON-RPC error. */
const MAX_ERROR_BODY_BYTES = 65_536;
/** An event this many times the allowed size is taken to be endless. */
const ENDLESS = 16;

export interface BodyHandlers {
  onEvent(event: StreamEvent): void;
  onRetry(ms: number): void;
  onOversized(ends: BothEnds): void;
  /** Empty after an event stream; truncated for a refusal. */
  onWhole(body: Buffer): void;
  onExcess(excess: Excess): void;
  /** The body cannot be read. */
  onError(error: Error): void;
}

/** The body of an answer: an event stream, or one body that is kept until it is complete. */
export class AnswerBody {
  private readonly isRefusal: boolean;
  private readonly maxBytes: number;
  private readonly length: number;
  private readonly kept: GrowingBuffer;
  private readonly events: EventStream | undefined;
  private readonly decoder: ContentDecoder | undefined;

  constructor(
    head: AnswerHead,
    limits: MessageLimits,
    private readonly handlers: BodyHandlers,
    reading: ReadingShare,
  ) {
    this.isRefusal = head.status >= 300;
    this.maxBytes = this.isRefusal
      ? Math.min(limits.maxBytes, MAX_ERROR_BODY_BYTES)
      : limits.maxBytes;
    this.length = head.contentLength ?? 0;
    this.kept = new GrowingBuffer(limits.room);
    if (!this.isRefusal && /^text\/event-stream\b/i.test(head.contentType)) {
      this.events = new EventStream(limits, handlers);
    }
    if (head.contentEncoding !== '' && head.hasBody) {
      const sink = {
        onData: (bytes: Buffer) => this.read(bytes),
        onEnd: () => handlers.onWhole(this.kept.take()),
        onError: (error: Error) => handlers.onError(error),
        onNoRoom: () => handlers.onExcess('budget'),
      };
      this.decoder = ContentDecoder.for(head.contentEncoding, limits.room, sink, reading);
    } else if (!this.events) this.kept.expect(Math.min(this.length, this.maxBytes));
  }

  get isStream(): boolean {
    return this.events !== undefined;
  }

  /** Whether its content-length exceeds the limit. */
  get isTooLong(): boolean {
    return !this.isRefusal && !this.events && this.length > this.maxBytes;
  }

  push(bytes: Buffer): void {
    if (this.decoder) this.decoder.write(bytes);
    else this.read(bytes);
  }

  end(): void {
    if (this.decoder) this.decoder.end();
    else this.handlers.onWhole(this.kept.take());
  }

  /** Releases the buffer of an incomplete body or event. */
  close(): void {
    this.decoder?.close();
    this.events?.close();
    this.kept.clear();
  }

  private read(bytes: Buffer): void {
    if (this.events) {
      this.events.push(bytes);
      if (this.events.eventBytes > this.maxBytes * ENDLESS) this.handlers.onExcess('message');
      return;
    }
    const left = this.maxBytes - this.kept.length;
    if (bytes.length > left && !this.isRefusal) return this.handlers.onExcess('message');
    const wanted = bytes.length > left ? bytes.subarray(0, left) : bytes;
    if (!this.kept.append(wanted)) return this.handlers.onExcess('budget');
    if (wanted !== bytes) this.handlers.onWhole(this.kept.take());
  }
}
