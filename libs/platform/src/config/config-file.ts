import stripJsonComments from 'strip-json-comments';
import { beyondBounds, type JsonBounds } from '../json/json-bounds.js';

/** Far above the size of any hand-written file. The file is read before the service listens, so its size is limited. */
const MAX_CHARS = 4_194_304;
const BOUNDS: JsonBounds = { depth: 64, keys: 20_000, strings: 100_000, values: 100_000 };

/** The message is a clause: "it is …". */
export class UnreadableConfigFile extends Error {}

/** JSON with comments and trailing commas, as MCP clients write it. Throws UnreadableConfigFile. */
export function parseConfigFile(text: string): unknown {
  if (text.length > MAX_CHARS) {
    throw new UnreadableConfigFile(`it has more than ${MAX_CHARS} characters`);
  }
  // Windows editors write a byte order mark, which JSON.parse rejects.
  const json = stripJsonComments(text.replace(/^\uFEFF/, ''), { trailingCommas: true });
  const beyond = beyondBounds(json, BOUNDS);
  if (beyond === 'depth') {
    throw new UnreadableConfigFile(`it is nested deeper than ${BOUNDS.depth} levels`);
  }
  if (beyond) throw new UnreadableConfigFile(`it has more than ${BOUNDS[beyond]} ${beyond}`);
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    throw new UnreadableConfigFile(`it is not valid JSON${placeOf(cause, json)}`, { cause });
  }
}

/** Only the position is reported: the parser's message may quote a secret from the file. */
function placeOf(cause: unknown, json: string): string {
  const [, position] = /\bposition (\d+)/.exec(cause instanceof Error ? cause.message : '') ?? [];
  if (position === undefined) return '';
  const before = json.slice(0, Number(position)).split('\n');
  return `: see line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
