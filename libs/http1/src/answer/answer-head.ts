import { ConnectionEnded } from '../connection/connection-ended.js';

/** Fields are compared by name length first, which avoids decoding all others. */
const CONNECTION = 'connection'.length;
const CONTENT_TYPE = 'content-type'.length;
const CONTENT_LENGTH = 'content-length'.length;
const CONTENT_ENCODING = 'content-encoding'.length;
const TRANSFER_ENCODING = 'transfer-encoding'.length;

const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Status line and fields in the syntax of RFC 9112; the last line without its line end. */
const HEAD =
  /^HTTP\/1\.[01] \d{3}(?: [\t\x20-\xff]*)?(?:\r\n[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/** The answer is not HTTP/1.1, or is ambiguous about where it ends. */
export class BadAnswer extends ConnectionEnded {
  constructor(what: string) {
    super(`its answer is not HTTP: ${what}`);
  }
}

/** Status and fields of one answer. Only the fields that frame the body are parsed up front. */
export class AnswerHead {
  readonly status: number;
  contentType = '';
  /** Undefined without a content-length. */
  contentLength: number | undefined;
  isChunked = false;
  /** The content-encoding of the body; empty without one. */
  contentEncoding = '';
  /** Whether the server accepts another request on the same connection. */
  keepsOpen: boolean;
  /** The keep-alive timeout of the server, if it sends one. */
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
    if (!HEAD.test(text)) throw new BadAnswer('characters that it forbids');
  }

  /** 1xx, 204 and 304 have no body, whatever their fields say. */
  get hasBody(): boolean {
    return this.status >= 200 && this.status !== 204 && this.status !== 304;
  }

  /** A field by its lower-case name; the first if there are several. */
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
        case CONNECTION: // `keep-alive` has the same length
        case CONTENT_TYPE:
        case CONTENT_LENGTH:
        case CONTENT_ENCODING:
        case TRANSFER_ENCODING:
          this.note(text.slice(at, colon).toLowerCase(), valueIn(text, colon + 1, end));
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
        if (length === undefined || this.contentLength !== undefined) {
          throw new BadAnswer('a length that is none');
        }
        this.contentLength = length;
        break;
      }
      case 'content-encoding':
        if (value.toLowerCase() === 'identity' || value === '') break;
        this.contentEncoding += this.contentEncoding === '' ? value : `, ${value}`;
        break;
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

  /** The index of the line feed, or the end of the text. */
  private endOfLine(at: number): number {
    const end = this.text.indexOf('\n', at);
    if (end < 0) return this.text.length;
    if (this.text.charCodeAt(end - 1) !== CARRIAGE_RETURN) throw new BadAnswer('a bare line feed');
    return end;
  }
}

/**
 * Without the spaces around it. A tab after it stays, and with it a length or an encoding is refused: some parsers take
 * the tab for a part of the value and so find another end of the body.
 */
function valueIn(text: string, start: number, end: number): string {
  let from = start;
  let to = text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && text.charCodeAt(to - 1) === SPACE) to--;
  return text.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}
