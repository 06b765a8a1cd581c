import {
  isJsonObject,
  JsonFault,
  type JsonNotes,
  type JsonObject,
  isKey,
  lastScanned,
  parseScanned,
  scanJson,
  withoutByteOrderMark,
  RawJsonObject,
} from '@app/platform';
import { largeInteger, type RpcId } from './message-id.js';
import { messageBetween } from './oversized-message.js';
import { type Incoming, readMessage } from './read-message.js';

/** Invalid JSON from a server, or more than is parsed: no part of it is used or forwarded. */
export class UnreadableMessage {
  readonly kind = 'unreadable';
  /** The request that it seems to answer. */
  readonly id: RpcId | undefined;
  /** False for a request or notification of the server. */
  readonly isAnswer: boolean;
  /** True for a broken message, false for a log line. */
  readonly isMessage: boolean;

  constructor(
    text: Buffer,
    readonly reason: string,
  ) {
    const head = text.subarray(0, SEARCHED_BYTES);
    const tail = text.subarray(-SEARCHED_BYTES);
    ({ id: this.id, isAnswer: this.isAnswer } = messageBetween({ head, tail }));
    this.isMessage = head.includes('"jsonrpc"') || tail.includes('"jsonrpc"');
  }
}
/** `jsonrpc` and `id` may come before or after the content. */
const SEARCHED_BYTES = 1_024;

export interface ParsedMessage {
  readonly raw: JsonObject;
  readonly incoming: Incoming;
}

/** A successful response keeps its result as bytes; every other message is parsed. */
export type Frame =
  | { readonly kind: 'answer'; readonly id: RpcId; readonly result: RawJsonObject }
  /** Several in a batch (2025-03-26), none when the JSON is not JSON-RPC. */
  | { readonly kind: 'messages'; readonly messages: readonly ParsedMessage[] }
  | UnreadableMessage;

/** Limits for messages that are parsed: parsing more values would block the event loop too long. */
const MAX_VALUES = 100_000;
/** `JSON.stringify` and every other recursion over values overflows the stack at about 4,000 levels. */
const MAX_DEPTH = 1_000;
/** Most messages in one body or frame, from a client or a server. */
export const MAX_BATCH = 100;

/** Reads one HTTP body, SSE event or line of a server. */
export function readFrame(bytes: Buffer): Frame {
  const text = withoutByteOrderMark(bytes);
  const notes = scanJson(text, 2);
  if (notes instanceof JsonFault) return new UnreadableMessage(text, notes.message);
  const answer = readAnswer(text, notes);
  if (answer) return answer;
  const beyond = limitExceeded();
  if (beyond !== undefined) {
    return new UnreadableMessage(text, `more than ${beyond} in a message that is no result`);
  }
  const parsed = parseScanned(text, notes);
  const batch = Array.isArray(parsed) ? parsed : [parsed];
  if (batch.length > MAX_BATCH) {
    return new UnreadableMessage(text, `more than ${MAX_BATCH} messages in a batch`);
  }
  const messages = batch.flatMap((raw) => {
    if (!isJsonObject(raw)) return [];
    const incoming = readMessage(raw, 'lenient');
    const isNone = incoming.kind === 'invalid' && incoming.answers === undefined;
    return isNone ? [] : [{ raw, incoming }];
  });
  return { kind: 'messages', messages };
}

/** Of the last scanned text. */
function limitExceeded(): string | undefined {
  const { values, depth } = lastScanned();
  if (values > MAX_VALUES) return `${MAX_VALUES} values`;
  return depth > MAX_DEPTH ? `${MAX_DEPTH} levels` : undefined;
}

function readAnswer(text: Buffer, notes: JsonNotes): Frame | undefined {
  let id: RpcId | undefined;
  let result: RawJsonObject | undefined;
  let membersFrom = 0;
  const { areAllNoted } = lastScanned();
  for (let i = 0; i < notes.length; i += NOTE_WORDS) {
    if (notes[i + 3] !== 1) continue;
    const key = notes[i] ?? 0;
    // An array: its elements are the messages of a batch.
    if (key < 0) return undefined;
    const start = notes[i + 1] ?? 0;
    const end = notes[i + 2] ?? 0;
    if (isKey(text, key, 'result')) {
      result = RawJsonObject.among(
        text,
        areAllNoted ? notes.slice(membersFrom, i) : undefined,
        start,
        end,
      );
    } else if (isKey(text, key, 'id')) id = idAt(text, start, end);
    else if (isKey(text, key, 'method') || isKey(text, key, 'error')) return undefined;
    membersFrom = i + NOTE_WORDS;
  }
  return id === undefined || !result ? undefined : { kind: 'answer', id, result };
}
const NOTE_WORDS = 4;

function idAt(text: Buffer, start: number, end: number): RpcId | undefined {
  const written = text.toString('utf8', start, end);
  const id: unknown = JSON.parse(written);
  if (typeof id === 'string') return id;
  if (typeof id !== 'number') return undefined;
  if (Number.isSafeInteger(id)) return id;
  return largeInteger(written) ?? (Number.isFinite(id) ? id : undefined);
}
