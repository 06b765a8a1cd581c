import { AnswerHead, BadAnswer } from './answer-head.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** As Node's own parser has it. */
const MAX_HEAD_BYTES = 16_384;
const MAX_CHUNK_LINE_BYTES = 1_024;
/** No size that could not be counted exactly. */
const CHUNK_SIZE = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i;

export interface AnswerSink {
  onHead(head: AnswerHead): void;
  /** Part of the bytes that were pushed: whoever wants to keep them makes a copy. */
  onData(bytes: Buffer): void;
  /** The answer is whole. */
  onEnd(): void;
}

type Part = 'head' | 'counted' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

/** The answers on one connection, cut out of its bytes (RFC 9112). Knows nothing of sockets. */
export class AnswerReader {
  private part: Part = 'head';
  /** Of the present body or chunk. */
  private left = 0;
  private trailerBytes = 0;
  /** The beginning of a head or line whose end has not come. */
  private kept: Buffer | undefined;
  private stopped = false;
  private ended = false;

  constructor(private readonly sink: AnswerSink) {}

  /** Throws `BadAnswer`; what follows is not to be read then. */
  push(bytes: Buffer): void {
    const all = this.kept ? Buffer.concat([this.kept, bytes]) : bytes;
    this.kept = undefined;
    this.ended = false;
    let at = 0;
    while (at < all.length && !this.stopped) {
      if (this.ended) throw new BadAnswer('more than was asked for');
      const next = this.read(all, at);
      if (next < 0) {
        this.kept = Buffer.from(all.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Nothing is told to the sink any more. */
  stop(): void {
    this.stopped = true;
  }

  /** The server has ended the connection; whether that was the end of an answer too. */
  finish(): boolean {
    if (this.part !== 'until-close' || this.stopped) return false;
    this.part = 'head';
    this.sink.onEnd();
    return true;
  }

  /** The place up to which all was read, or -1 when more has to come first. */
  private read(bytes: Buffer, at: number): number {
    switch (this.part) {
      case 'head':
        return this.readHead(bytes, at);
      case 'counted':
      case 'chunk':
        return this.readCounted(bytes, at);
      case 'until-close':
        this.sink.onData(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'chunk-size':
      case 'chunk-end':
      case 'trailer':
        return this.readLine(bytes, at);
      default:
        return this.part satisfies never;
    }
  }

  private readHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(END_OF_HEAD, at);
    if ((end < 0 ? bytes.length : end) - at > MAX_HEAD_BYTES) {
      throw new BadAnswer(`headers of more than ${MAX_HEAD_BYTES} bytes`);
    }
    if (end < 0) return -1;
    const head = new AnswerHead(bytes.toString('latin1', at, end));
    const next = end + END_OF_HEAD.length;
    if (head.status === 101) throw new BadAnswer('another protocol');
    // An interim answer: the real one follows.
    if (head.status < 200) return next;
    this.left = head.contentLength ?? 0;
    this.sink.onHead(head);
    if (!head.hasBody || head.contentLength === 0) this.end();
    else if (head.isChunked) this.part = 'chunk-size';
    else this.part = head.contentLength === undefined ? 'until-close' : 'counted';
    return next;
  }

  private readCounted(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.left);
    this.left -= end - at;
    this.sink.onData(bytes.subarray(at, end));
    if (this.left > 0) return end;
    if (this.part === 'chunk') this.part = 'chunk-end';
    else this.end();
    return end;
  }

  private readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LINE_FEED, at);
    if ((end < 0 ? bytes.length : end) - at > MAX_CHUNK_LINE_BYTES) {
      throw new BadAnswer('a chunk without an end');
    }
    if (end < 0) return -1;
    if (end === at || bytes[end - 1] !== CARRIAGE_RETURN) throw new BadAnswer('a bare line feed');
    const line = bytes.toString('latin1', at, end - 1);
    if (this.part === 'chunk-size') this.beginChunk(line);
    else if (this.part === 'trailer') this.skipTrailer(line);
    else if (line === '') this.part = 'chunk-size';
    else throw new BadAnswer('a chunk of another size than it said');
    return end + 1;
  }

  private beginChunk(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new BadAnswer('a chunk without a size');
    this.left = Number.parseInt(size, 16);
    this.trailerBytes = 0;
    this.part = this.left === 0 ? 'trailer' : 'chunk';
  }

  private skipTrailer(line: string): void {
    if (line === '') return this.end();
    this.trailerBytes += line.length;
    if (this.trailerBytes > MAX_HEAD_BYTES) throw new BadAnswer('trailers without an end');
  }

  private end(): void {
    this.part = 'head';
    this.ended = true;
    if (!this.stopped) this.sink.onEnd();
  }
}
