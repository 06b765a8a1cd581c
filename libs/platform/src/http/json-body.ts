import { parse } from 'secure-json-parse';
import { MalformedRequest } from '../errors/app-error.js';

/** Deeper bodies than any of ours, shallower than what overflows a recursive visitor. */
const MAX_DEPTH = 128;

/** An empty body is no body: `POST …/connect` needs none, and many clients still announce JSON. */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return undefined;
  if (isNestedDeeperThan(text, MAX_DEPTH)) {
    throw new MalformedRequest(`The body is nested deeper than ${MAX_DEPTH} levels`);
  }
  try {
    // Refuses `__proto__` and `constructor.prototype` keys, which would poison objects built from the body.
    return parse(text) as unknown;
  } catch {
    throw new MalformedRequest(
      'The body is not valid JSON, or it has a forbidden key such as __proto__',
    );
  }
}

function isNestedDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > limit) return true;
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return false;
}
