import { isUtf8 } from 'node:buffer';
import { parse } from 'secure-json-parse';
import { BodyTooComplex, MalformedRequest } from '../errors/app-error.js';
import { beyondBounds, type JsonBounds } from '../json/json-bounds.js';
import type { JsonValue } from '../json/json.js';
import { JsonFault, lastScanned, scanJson } from '../json/json-scan.js';
import { parseScanned, withoutByteOrderMark } from '../json/parse-kept.js';

/**
 * Limits for any body. Within them a body of 4 MB parses in less than 50 ms; deeper nesting would overflow recursive
 * visitors.
 */
export const BODY_BOUNDS: JsonBounds = {
  depth: 128,
  keys: 40_000,
  strings: 100_000,
  values: 400_000,
};

/**
 * Limits for bodies whose content is forwarded to a server: values remember their text (see `keepText`). Any key is
 * allowed, also repeatedly, since no object is built from it.
 */
export function parsePassedOnBody(body: Buffer): JsonValue | undefined {
  const text = withoutByteOrderMark(body);
  // In a batch, the arguments of a call are one level deeper.
  const notes = scanJson(text, isArray(text) ? 3 : 2);
  if (notes instanceof JsonFault && text.toString().trim() === '') return undefined;
  const { values, depth } = lastScanned();
  if (notes instanceof JsonFault) {
    // The scanner gives up at a number of values itself.
    if (values > BODY_BOUNDS.values) requireBounds(text.toString('latin1'));
    throw new MalformedRequest(`The body is not valid JSON: ${notes.message}`);
  }
  // A text with fewer values than the smallest limit is within all of them.
  if (depth > BODY_BOUNDS.depth || values > BODY_BOUNDS.keys)
    requireBounds(text.toString('latin1'));
  return parseScanned(text, notes);
}

function isArray(text: Buffer): boolean {
  return text[0] !== OPEN_BRACE && text.toString('latin1', 0, 100).trimStart().startsWith('[');
}
const OPEN_BRACE = 0x7b;

/** Refuses bytes that are not UTF-8, which decoding would replace. */
export function textOfBody(body: Buffer): string {
  if (!isUtf8(body)) throw new MalformedRequest('The body is not valid JSON: it is not UTF-8');
  return body.toString();
}

/**
 * An empty body counts as absent: `POST …/connect` needs none, and many clients send a JSON content type anyway.
 */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  requireBounds(text);
  try {
    // Refuses `__proto__` and `constructor.prototype` keys (prototype pollution).
    return parse(text) as unknown;
  } catch {
    throw new MalformedRequest(
      'The body is not valid JSON, or it has a forbidden key such as __proto__',
    );
  }
}

function requireBounds(text: string): void {
  const beyond = beyondBounds(text, BODY_BOUNDS);
  if (beyond === 'depth') {
    throw new MalformedRequest(`The body is nested deeper than ${BODY_BOUNDS.depth} levels`);
  }
  if (beyond) throw new BodyTooComplex(`The body has more than ${BODY_BOUNDS[beyond]} ${beyond}`);
}
