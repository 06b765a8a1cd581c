import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import type { FieldChange } from '../decide/field-changes.js';
import { disguiseIn } from './disguise.js';
import { encodedText } from './encoded-text.js';
import type { Finding } from './finding.js';
import { lookAlikeOf, mentionedTool, type ToolNames } from './other-tools.js';
import { plain, suspectsIn } from './suspect-words.js';

/** The tools of other servers, which a change may imitate or refer to. */
export interface Surroundings {
  readonly others: ToolNames;
}

export interface Judged {
  readonly name: string;
  readonly before: JsonObject | null;
  readonly listed: { readonly definition: JsonObject; readonly wasCleaned: boolean };
  readonly changes: readonly FieldChange[];
}

/** A change may be as long as a definition. */
const MAX_TEXTS = 2_000;
const MAX_FINDINGS = 20;
const MAX_QUOTED = 200;

/** What a person should look at in a change; what the approved definition has already is no finding. */
export function findingsIn(judged: Judged, { others }: Surroundings): Finding[] {
  const { name, before, listed, changes } = judged;
  const texts = changes.flatMap(textsOf).slice(0, MAX_TEXTS);
  const beforeTexts = before ? textsIn(before, '').map(({ text }) => plain(text)) : [];
  const known = beforeTexts.join('\n');
  const found: Finding[] = [
    ...hiddenCharacters(listed.wasCleaned),
    ...texts.flatMap(({ path, text }) => inText(path, text, known, others)),
    ...lookAlike(name, before, others),
    ...moreDestructive(before, listed.definition),
    ...newRequired(before, listed.definition),
  ];
  return found.slice(0, MAX_FINDINGS);
}

function inText(path: string, text: string, known: string, others: ToolNames): Finding[] {
  const spoken = plain(text);
  const disguise = disguiseIn(text);
  const suspects = suspectsIn(spoken).filter(({ quote }) => !known.includes(quote));
  const encoded = encodedText(text);
  const other = mentionedTool(spoken, others);
  return [
    ...suspects.map(({ code, quote }) => ({ code, where: path, text: `“${cut(quote)}”` })),
    ...(disguise !== undefined && !known.includes(plain(disguise))
      ? [{ code: 'hidden_characters' as const, where: path, text: `“${cut(disguise)}”` }]
      : []),
    ...(encoded !== undefined && !known.includes(plain(encoded))
      ? [{ code: 'encoded_text' as const, where: path, text: `“${cut(encoded)}”` }]
      : []),
    ...(other !== undefined && !known.includes(other)
      ? [{ code: 'other_tool' as const, where: path, text: `it speaks of ${other}` }]
      : []),
  ];
}

function hiddenCharacters(wasCleaned: boolean): Finding[] {
  return wasCleaned
    ? [
        {
          code: 'hidden_characters',
          where: 'definition',
          text: 'its texts have invisible or bidirectional characters',
        },
      ]
    : [];
}

/** Only a name that is new can be chosen to look like another. */
function lookAlike(name: string, before: JsonObject | null, others: ToolNames): Finding[] {
  if (before?.['name'] === name) return [];
  const twin = lookAlikeOf(name, others);
  return twin === undefined
    ? []
    : [{ code: 'look_alike', where: 'name', text: `it looks like ${twin}` }];
}

function moreDestructive(before: JsonObject | null, after: JsonObject): Finding[] {
  const was = before?.['annotations'];
  if (!isJsonObject(was)) return [];
  const is = isJsonObject(after['annotations']) ? after['annotations'] : {};
  const found: Finding[] = [];
  if (was['readOnlyHint'] === true && is['readOnlyHint'] !== true) {
    found.push({
      code: 'more_destructive',
      where: 'annotations/readOnlyHint',
      text: 'it was read-only',
    });
  }
  if (was['destructiveHint'] === false && is['destructiveHint'] !== false) {
    found.push({
      code: 'more_destructive',
      where: 'annotations/destructiveHint',
      text: 'it was not destructive',
    });
  }
  return found;
}

function newRequired(before: JsonObject | null, after: JsonObject): Finding[] {
  if (!before) return [];
  const was = new Set(requiredOf(before));
  return requiredOf(after)
    .filter((name) => !was.has(name))
    .map((name) => ({
      code: 'new_required_argument',
      where: 'inputSchema/required',
      text: `“${cut(name)}” was not required`,
    }));
}

function requiredOf({ inputSchema }: JsonObject): string[] {
  const required = isJsonObject(inputSchema) ? inputSchema['required'] : undefined;
  if (!Array.isArray(required)) return [];
  return required.filter((name): name is string => typeof name === 'string');
}

/** The name of an argument is part of the path where only the argument is new. */
function textsOf({ path, before, after }: FieldChange): { path: string; text: string }[] {
  const argument = before === undefined ? /\/properties\/([^/]+)$/.exec(path)?.[1] : undefined;
  const texts = textsIn(after, path);
  return argument === undefined ? texts : [{ path, text: argument }, ...texts];
}

/** Keys too: the name of an argument is read by models like a text. */
function textsIn(value: JsonValue | undefined, path: string): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, path));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(path.endsWith('properties') ? [{ path: `${path}/${key}`, text: key }] : []),
    ...textsIn(item, path === '' ? key : `${path}/${key}`),
  ]);
}

function cut(text: string): string {
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}
