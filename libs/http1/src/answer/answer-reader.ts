import { GrowingBuffer, UNCOUNTED } from '@app/platform';
import { AnswerHead, BadAnswer } from './answer-head.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** The limit of Node's own parser. */
const MAX_HEAD_BYTES = 16_384;
const MAX_CHUNK_LINE_BYTES = 1_024;
const MAX_PLAIN_DIGITS = 8;
/** Chunk sizes stay below 2^53, so that they are exact. */
const CHUNK_SIZE =
  /^([0-9a-f]{1,12})(?:;[\w!#$%&'*+.^`|~-]+(?:=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\t\x20!\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/i;
const TRAILER = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/;
/** Fields that would contradict where the body ended; RFC 9110, section 6.5.1, forbids them in trailers. */
const FRAMING = /^(?:content-length|transfer-encoding):/i;

export interface AnswerSink {
  onHead(head: AnswerHead): void;
  /** A view of the bytes that were pushed: copy them to keep them. */
  onData(bytes: Buffer): void;
  /** The answer is complete. */
  onEnd(): void;
}

type Part = 'head' | 'counted' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

/** Splits the bytes of one connection into answers (RFC 9112). Independent of sockets. */
export class AnswerReader {
  private part: Part = 'head';
  /** Bytes left of the current body or chunk. */
  private left = 0;
  private trailerBytes = 0;
  /** The beginning of a head or line whose end has not arrived yet. */
  private readonly kept = new GrowingBuffer(UNCOUNTED);
  /** Bytes of `kept` that were already searched for that end. */
  private searched = 0;
  private stopped = false;
  private ended = false;

  constructor(private readonly sink: AnswerSink) {}

  /** Whether no part of an answer has been read. */
  get isAtStart(): boolean {
    return this.part === 'head' && this.kept.length === 0;
  }

  /** Throws `BadAnswer`; the connection is unusable afterwards. */
  push(bytes: Buffer): void {
    const isContinued = this.kept.length > 0;
    if (isContinued) this.kept.append(bytes);
    const all = isContinued ? this.kept.peek() : bytes;
    this.ended = false;
    let at = 0;
    while (at < all.length && !this.stopped) {
      if (this.ended) throw new BadAnswer('more than was asked for');
      const next = this.read(all, at);
      if (next < 0) return this.keep(all, at, isContinued);
      at = next;
      this.searched = 0;
    }
    if (isContinued) this.kept.clear();
  }

  private keep(all: Buffer, at: number, isContinued: boolean): void {
    this.searched = all.length - at;
    if (isContinued && at === 0) return;
    this.kept.clear();
    this.kept.append(all.subarray(at));
  }

  /** Stops all further calls of the sink. */
  stop(): void {
    this.stopped = true;
  }

  /** The server has closed the connection; returns whether that completes an answer. */
  finish(): boolean {
    if (this.part !== 'until-close' || this.stopped) return false;
    this.part = 'head';
    this.sink.onEnd();
    return true;
  }

  /** The index up to which the bytes were consumed, or -1 when more bytes are needed. */
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
        return this.readPlainChunkSize(bytes, at) ?? this.readLine(bytes, at);
      case 'chunk-end':
      case 'trailer':
        return this.readLine(bytes, at);
      default:
        return this.part satisfies never;
    }
  }

  private readHead(bytes: Buffer, at: number): number {
    const from = at + Math.max(0, this.searched - END_OF_HEAD.length + 1);
    const end = bytes.indexOf(END_OF_HEAD, from);
    if ((end < 0 ? bytes.length : end) - at > MAX_HEAD_BYTES) {
      throw new BadAnswer(`headers of more than ${MAX_HEAD_BYTES} bytes`);
    }
    if (end < 0) return -1;
    const head = new AnswerHead(bytes.toString('latin1', at, end));
    const next = end + END_OF_HEAD.length;
    if (head.status === 101) throw new BadAnswer('another protocol');
    // An interim answer: the final one follows.
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

  /** Fast path for the usual form; undefined for any other. A server may send millions of chunks. */
  private readPlainChunkSize(bytes: Buffer, at: number): number | undefined {
    let size = 0;
    let end = at;
    for (let digit = hexDigit(bytes[end]); digit >= 0; digit = hexDigit(bytes[end])) {
      size = size * 16 + digit;
      end++;
    }
    const isPlain = end > at && end - at <= MAX_PLAIN_DIGITS;
    if (!isPlain || bytes[end] !== CARRIAGE_RETURN || bytes[end + 1] !== LINE_FEED) {
      return undefined;
    }
    this.beginChunk(size);
    return end + 2;
  }

  private readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LINE_FEED, at + this.searched);
    if ((end < 0 ? bytes.length : end) - at > MAX_CHUNK_LINE_BYTES) {
      throw new BadAnswer('a chunk without an end');
    }
    if (end < 0) return -1;
    if (end === at || bytes[end - 1] !== CARRIAGE_RETURN) throw new BadAnswer('a bare line feed');
    if (this.part === 'chunk-end' && end === at + 1) {
      this.part = 'chunk-size';
      return end + 1;
    }
    const line = bytes.toString('latin1', at, end - 1);
    if (this.part === 'chunk-size') this.beginChunk(sizeIn(line));
    else if (this.part === 'trailer') this.skipTrailer(line);
    else throw new BadAnswer('a chunk of another size than it said');
    return end + 1;
  }

  private beginChunk(size: number): void {
    this.left = size;
    this.trailerBytes = 0;
    this.part = this.left === 0 ? 'trailer' : 'chunk';
  }

  private skipTrailer(line: string): void {
    if (line === '') return this.end();
    if (!TRAILER.test(line)) throw new BadAnswer('a trailer that is none');
    if (FRAMING.test(line)) throw new BadAnswer('a length or an encoding after its body');
    this.trailerBytes += line.length;
    if (this.trailerBytes > MAX_HEAD_BYTES) throw new BadAnswer('trailers without an end');
  }

  private end(): void {
    this.part = 'head';
    this.ended = true;
    if (!this.stopped) this.sink.onEnd();
  }
}

function sizeIn(line: string): number {
  const size = CHUNK_SIZE.exec(line)?.[1];
  if (size === undefined) throw new BadAnswer('a chunk without a size');
  return Number.parseInt(size, 16);
}

/** -1 for any other byte. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
