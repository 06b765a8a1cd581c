import type { RJSFSchema } from '@rjsf/utils';
import { texts } from '../../texts/index.js';

interface Described {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly items?: unknown;
  readonly format?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly minLength?: unknown;
  readonly maxLength?: unknown;
}

const MAX_DEPTH = 4;

/** The type of an argument in a few words: `integer 1–100`, `enum, 4`, `list of string`. */
export function typeWords(schema: RJSFSchema | Described | boolean | undefined, depth = 0): string {
  if (typeof schema !== 'object' || depth > MAX_DEPTH) return '';
  const { type, enum: values, items, format } = schema as Described;
  if (Array.isArray(values)) return texts.form.enumOf(values.length);
  const name = Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : '';
  if (name === 'array') {
    const inner = typeof items === 'object' && items !== null ? typeWords(items, depth + 1) : '';
    return inner === '' ? name : texts.form.arrayOf(inner);
  }
  return [name, typeof format === 'string' ? format : '', rangeOf(schema as Described)]
    .filter((word) => word !== '')
    .join(' ');
}

function rangeOf({ minimum, maximum, minLength, maxLength }: Described): string {
  const low = limitOf(minimum ?? minLength);
  const high = limitOf(maximum ?? maxLength);
  if (low !== undefined && high !== undefined) return `${low}–${high}`;
  if (low !== undefined) return `≥ ${low}`;
  return high === undefined ? '' : `≤ ${high}`;
}

/** Generated schemas name the largest integer of a language where there is no limit. */
function limitOf(limit: unknown): number | undefined {
  const isLimit = typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
  return isLimit ? limit : undefined;
}
