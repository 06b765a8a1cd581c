import { PacedReader, type ReadingShare, type Room } from '@app/platform';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { ConnectionEnded } from '../connection/connection-ended.js';

type Unzip = ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>;

interface DecoderSink {
  onData(bytes: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
  onNoRoom(): void;
}

const OUTPUT_CHUNK = { chunkSize: 65_536 };
const DEFLATE_METHOD = 8;
/** Maximum window size of the decoder. */
const GZIP_WINDOW_BYTES = 32_768;
const BROTLI_WINDOW_BYTES = 16_777_216;

/**
 * Decodes the `content-encoding` of an answer. Requests ask for none, but some servers and proxies compress
 * anyway. Decoding runs in the thread pool and stops with `close`, so the owner counts the decoded bytes and
 * closes the decoder when they exceed the limit.
 */
export class ContentDecoder {
  private unzip: Unzip | undefined;
  private counted = 0;
  private window = 0;
  private isClosed = false;

  private constructor(
    private readonly encoding: string,
    private readonly room: Room,
    private readonly sink: DecoderSink,
    private readonly reading: ReadingShare,
  ) {}

  /** Throws `ConnectionEnded` for an unknown encoding. */
  static for(
    encoding: string,
    room: Room,
    sink: DecoderSink,
    reading: ReadingShare,
  ): ContentDecoder {
    const known = encoding.toLowerCase().replace(/^x-/, '');
    if (!['gzip', 'deflate', 'br'].includes(known)) {
      throw new ConnectionEnded('its content-encoding is none of gzip, deflate and br');
    }
    return new ContentDecoder(known, room, sink, reading);
  }

  write(bytes: Buffer): void {
    if (this.isClosed || bytes.length === 0) return;
    this.unzip ??= this.begin(bytes[0] ?? 0);
    if (!this.count(bytes.length)) return this.sink.onNoRoom();
    this.unzip.write(Buffer.from(bytes), () => this.uncount(bytes.length));
  }

  end(): void {
    if (this.unzip) this.unzip.end();
    else this.sink.onEnd();
  }

  close(): void {
    this.isClosed = true;
    this.unzip?.destroy();
    this.room.give(this.counted);
    this.counted = 0;
  }

  private begin(firstByte: number): Unzip {
    const unzip = this.create(firstByte);
    const read = (piece: Buffer): void => {
      if (!this.isClosed) this.sink.onData(piece);
    };
    const reader = new PacedReader(unzip, read, this.reading);
    unzip.on('data', (bytes: Buffer) => {
      if (this.isClosed) return;
      if (!this.countWindow(bytes.length)) this.sink.onNoRoom();
      else reader.push(bytes);
    });
    unzip.on('end', () => {
      reader.onceRead(() => {
        if (!this.isClosed) this.sink.onEnd();
      });
    });
    unzip.on('error', () => {
      if (!this.isClosed)
        this.sink.onError(new ConnectionEnded(`its answer is not ${this.encoding}, as it says`));
    });
    return unzip;
  }

  private create(firstByte: number): Unzip {
    if (this.encoding === 'gzip') return createGunzip(OUTPUT_CHUNK);
    if (this.encoding === 'br') return createBrotliDecompress(OUTPUT_CHUNK);
    // Some servers send raw deflate without the zlib wrapper that `deflate` requires.
    return (firstByte & 0x0f) === DEFLATE_METHOD
      ? createInflate(OUTPUT_CHUNK)
      : createInflateRaw(OUTPUT_CHUNK);
  }

  private countWindow(decoded: number): boolean {
    const most = this.encoding === 'br' ? BROTLI_WINDOW_BYTES : GZIP_WINDOW_BYTES;
    const more = Math.min(decoded, most - this.window);
    this.window += more;
    return this.count(more);
  }

  private count(bytes: number): boolean {
    if (!this.room.take(bytes)) return false;
    this.counted += bytes;
    return true;
  }

  private uncount(bytes: number): void {
    if (this.isClosed) return;
    this.counted -= bytes;
    this.room.give(bytes);
  }
}
