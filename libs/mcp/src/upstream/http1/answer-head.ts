import { ConnectionEnded } from './connection-ended.js';

/** Fields are told by the length of their names first, which spares writing out all the others. */
const CONNECTION = 'connection'.length;
const CONTENT_TYPE = 'content-type'.length;
const CONTENT_LENGTH = 'content-length'.length;
const TRANSFER_ENCODING = 'transfer-encoding'.length;

const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** What a server sent is not HTTP/1.1, or is of two minds about where its answer ends. */
export class BadAnswer extends ConnectionEnded {
  constructor(what: string) {
    super(`its answer is not HTTP: ${what}`);
  }
}

/** Status and fields of one answer. Only the fields that tell where it ends are read before they are asked for. */
export class AnswerHead {
  readonly status: number;
  contentType = '';
  /** Undefined when it does not say. */
  contentLength: number | undefined;
  isChunked = false;
  /** Whether the server takes another request on the same connection. */
  keepsOpen: boolean;
  /** How long it waits for that, when it says so. */
  keepAliveMs: number | undefined;
  private readonly fields: number;

  /** `text` is everything before the empty line. Throws `BadAnswer`. */
  constructor(private readonly text: string) {
    const minor = text.charCodeAt(7) - 0x30;
    const after = text.charCodeAt(12);
    this.status = Number(text.slice(9, 12));
    if (
      !text.startsWith('HTTP/1.') ||
      (minor !== 0 && minor !== 1) ||
      text.charCodeAt(8) !== SPACE ||
      !(this.status >= 100 && this.status <= 599) ||
      !(Number.isNaN(after) || after === SPACE || after === CARRIAGE_RETURN)
    ) {
      throw new BadAnswer('no status line');
    }
    this.keepsOpen = minor === 1;
    this.fields = text.indexOf('\n') + 1 || text.length;
    this.readFraming();
  }

  /** Neither of these has a body, whatever it says of one. */
  get hasBody(): boolean {
    return this.status >= 200 && this.status !== 204 && this.status !== 304;
  }

  /** A field by its name in lower case; the first of several. */
  get(name: string): string | undefined {
    for (let at = this.fields; at < this.text.length;) {
      const end = this.endOfLine(at);
      const colon = at + name.length;
      if (this.text[colon] === ':' && this.text.slice(at, colon).toLowerCase() === name) {
        return this.text.slice(colon + 1, end).trim();
      }
      at = end + 1;
    }
    return undefined;
  }

  private readFraming(): void {
    const { text } = this;
    for (let at = this.fields; at < text.length;) {
      const end = this.endOfLine(at);
      const colon = text.indexOf(':', at);
      if (colon <= at || colon >= end || isSpace(text.charCodeAt(at))) {
        throw new BadAnswer('a header without a name');
      }
      switch (colon - at) {
        case CONNECTION: // and keep-alive, which is as long
        case CONTENT_TYPE:
        case CONTENT_LENGTH:
        case TRANSFER_ENCODING:
          this.note(text.slice(at, colon).toLowerCase(), text.slice(colon + 1, end).trim());
          break;
        default:
          if (isSpace(text.charCodeAt(colon - 1))) throw new BadAnswer('space before a colon');
      }
      at = end + 1;
    }
    if (this.isChunked && this.contentLength !== undefined) {
      throw new BadAnswer('both a length and chunks');
    }
  }

  private note(name: string, value: string): void {
    switch (name) {
      case 'content-type':
        this.contentType ||= value;
        break;
      case 'content-length': {
        const length = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
        if (length === undefined || (this.contentLength ?? length) !== length) {
          throw new BadAnswer('a length that is none');
        }
        this.contentLength = length;
        break;
      }
      case 'transfer-encoding':
        if (this.isChunked || value.toLowerCase() !== 'chunked') {
          throw new BadAnswer('an encoding that was not asked for');
        }
        this.isChunked = true;
        break;
      case 'connection':
        if (/\bclose\b/i.test(value)) this.keepsOpen = false;
        break;
      case 'keep-alive': {
        const seconds = /\btimeout=(\d{1,6})\b/i.exec(value)?.[1];
        if (seconds !== undefined) this.keepAliveMs = Number(seconds) * 1_000;
        break;
      }
      default:
        if (isSpace(name.charCodeAt(name.length - 1))) throw new BadAnswer('space before a colon');
    }
  }

  /** The place of its line feed, or the end of the text. */
  private endOfLine(at: number): number {
    const end = this.text.indexOf('\n', at);
    if (end < 0) return this.text.length;
    if (this.text.charCodeAt(end - 1) !== CARRIAGE_RETURN) throw new BadAnswer('a bare line feed');
    return end;
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}
