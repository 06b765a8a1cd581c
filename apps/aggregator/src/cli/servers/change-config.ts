import { usageError } from '../exit-codes.js';
import { isMembers, type JsonMembers } from '../input.js';
import { isJson, pairOf } from '../option-values.js';

/** Members whose values are always text: `env.PORT=8080` is not a number. */
const TEXTS = new Set(['env', 'headers']);

/** A copy of a connection configuration with `key=value` set; a key may lead into members: `env.NAME`, `oauth.scope`. */
export function withSet(config: JsonMembers, assignment: string): JsonMembers {
  const [key, text] = pairOf(assignment, '=');
  const path = pathOf(key);
  return changed(config, path, key, () => valueOf(path, text));
}

/** A copy without the member. */
export function without(config: JsonMembers, key: string): JsonMembers {
  return changed(config, pathOf(key), key, () => undefined);
}

/** Only the first dot of `env.A.B` and `headers.X.Y` leads into a member: names of headers may contain dots. */
function pathOf(key: string): readonly string[] {
  const [first = '', ...rest] = key.split('.');
  const path = TEXTS.has(first) && rest.length > 0 ? [first, rest.join('.')] : [first, ...rest];
  if (path.includes('')) throw usageError(`${key} is not the name of a member`);
  return path;
}

function changed(
  config: JsonMembers,
  [first = '', ...rest]: readonly string[],
  key: string,
  value: () => unknown,
): JsonMembers {
  const others = Object.entries(config).filter(([name]) => name !== first);
  const inner = Object.getOwnPropertyDescriptor(config, first)?.value as unknown;
  if (rest.length > 0 && inner !== undefined && !isMembers(inner)) {
    throw usageError(`${key} cannot be changed: ${first} has no members`);
  }
  const next =
    rest.length === 0 ? value() : changed(isMembers(inner) ? inner : {}, rest, key, value);
  return Object.fromEntries(next === undefined ? others : [...others, [first, next]]);
}

/** Lists and objects are JSON, as in `args=["a","b"]`; everything else in a configuration is text. */
function valueOf([first = '', ...rest]: readonly string[], text: string): unknown {
  const isText = TEXTS.has(first) && rest.length > 0;
  return !isText && /^\s*[[{]/.test(text) && isJson(text) ? JSON.parse(text) : text;
}
