import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { z } from 'zod';
import { isText } from './schema-keywords.js';

/** A definition that clients accept, or the reason why it cannot be repaired with certainty. */
export type Repaired =
  { readonly item: JsonObject; readonly repairs: readonly string[] } | { readonly refusal: string };

const NAMED_REPAIRS = 5;

/** The repairs of one item as text for a warning; bounded, because a server can cause any number of them. */
export function inWords(repairs: readonly string[]): string {
  const named = repairs.slice(0, NAMED_REPAIRS).join('; ');
  const more = repairs.length - NAMED_REPAIRS;
  return more > 0 ? `${named}; and ${more} more` : named;
}

/** How one optional member is read: the value that clients accept, undefined to leave it out. */
type Reading = (value: JsonValue, path: string, repairs: string[]) => JsonValue | undefined;

export type Members = ReadonlyMap<string, Reading>;

/**
 * The object without the optional members that clients refuse. They are shown to people or are hints whose defaults
 * are the cautious values, so the item works without them. Returns the same object when nothing was changed.
 */
export function withSoundMembers(
  object: JsonObject,
  members: Members,
  path: string,
  repairs: string[],
): JsonObject {
  let sound: JsonObject | undefined;
  for (const [name, read] of members) {
    if (!Object.hasOwn(object, name)) continue;
    const value = object[name] ?? null;
    const kept = value === null ? undefined : read(value, `${path}${name}`, repairs);
    if (kept === value) continue;
    sound ??= { ...object };
    if (kept !== undefined) {
      sound[name] = kept;
      continue;
    }
    delete sound[name];
    repairs.push(`its ${path}${name} was left out, because clients refuse its value`);
  }
  return sound ?? object;
}

/** Keeps a value that fits. */
export function only(fits: (value: JsonValue) => boolean): Reading {
  return (value) => (fits(value) ? value : undefined);
}

/** Keeps an object, without those of its members that do not fit. */
export function objectOf(members: Members): Reading {
  return (value, path, repairs) =>
    isJsonObject(value) ? withSoundMembers(value, members, `${path}.`, repairs) : undefined;
}

const isFinite: (value: JsonValue) => boolean = (value) => Number.isFinite(value);
const isBoolean = (value: JsonValue): boolean => typeof value === 'boolean';
const accepts = (schema: z.ZodType) => (value: JsonValue) => schema.safeParse(value).success;

const iconMembers: Members = new Map([
  ['mimeType', only(isText)],
  ['sizes', only((value) => Array.isArray(value) && value.every(isText))],
  ['theme', only((value) => value === 'light' || value === 'dark')],
]);

const iconsOf: Reading = (value, path, repairs) => {
  if (!Array.isArray(value)) return undefined;
  const sound = value.flatMap((icon, i) =>
    isJsonObject(icon) && typeof icon['src'] === 'string'
      ? [withSoundMembers(icon, iconMembers, `${path}[${i}].`, repairs)]
      : [],
  );
  if (sound.length < value.length) repairs.push('icons without a src were left out');
  return sound.length === value.length && sound.every((icon, i) => icon === value[i])
    ? value
    : sound;
};

/** The members that all kinds of items have. */
const common: readonly (readonly [string, Reading])[] = [
  ['title', only(isText)],
  ['description', only(isText)],
  ['icons', iconsOf],
  ['_meta', only(isJsonObject)],
];

const contentAnnotations: Members = new Map([
  ['audience', only(accepts(z.array(z.enum(['user', 'assistant']))))],
  ['priority', only(accepts(z.number().min(0).max(1)))],
  ['lastModified', only(accepts(z.iso.datetime({ offset: true })))],
]);

const toolAnnotations: Members = new Map([
  ['title', only(isText)],
  ['readOnlyHint', only(isBoolean)],
  ['destructiveHint', only(isBoolean)],
  ['idempotentHint', only(isBoolean)],
  ['openWorldHint', only(isBoolean)],
]);

const toolExecution: Members = new Map([
  ['taskSupport', only(accepts(z.enum(['required', 'optional', 'forbidden'])))],
]);

export const toolMembers: Members = new Map([
  ...common,
  ['annotations', objectOf(toolAnnotations)],
  ['execution', objectOf(toolExecution)],
]);

export const promptMembers: Members = new Map(common);
export const promptArgumentMembers: Members = new Map([
  ['title', only(isText)],
  ['description', only(isText)],
]);

const contentMembers = [
  ...common,
  ['mimeType', only(isText)],
  ['annotations', objectOf(contentAnnotations)],
] as const;
export const templateMembers: Members = new Map(contentMembers);
export const resourceMembers: Members = new Map([...contentMembers, ['size', only(isFinite)]]);
