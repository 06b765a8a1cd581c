import {
  definitionProblem,
  inWords,
  type Repaired,
  repairPrompt,
  repairResource,
} from '@app/discovery';
import type { Provenance } from '@app/mcp-protocol';
import { isJsonObject, type JsonObject } from '@app/platform';
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { keyMember, OfferedList, type OfferedKind } from './offered-list.js';
import { PAGE_BYTES, type PageItem } from './paging.js';
import { UriTemplate } from './uri-template.js';

/** Items per server and kind. The limit on templates is lower, because every unlisted URI is compared with them. */
export const MAX_ITEMS = { prompts: 10_000, resources: 10_000, resourceTemplates: 1_000 } as const;
const MAX_KEY_CHARS = 2_048;
/** Memory of an item in addition to its text. */
const ITEM_OVERHEAD_BYTES = 200;
/** Yields to the event loop after this much of a list. */
const SLICE_BYTES = 262_144;
const NAMED_CHARS = 65_536;
const NAME_CHARS = 200;

const nouns = {
  prompts: ['prompt', 'prompts'],
  resources: ['resource', 'resources'],
  resourceTemplates: ['resource template', 'resource templates'],
} as const satisfies Record<OfferedKind, readonly [string, string]>;

/** Remarks about items for the owner of a server, grouped by reason. */
export class Remarks {
  private readonly names = new Map<string, string[]>();

  constructor(private readonly kind: OfferedKind) {}

  add(reason: string, name: string): void {
    const names = this.names.get(reason);
    const printable = name
      .slice(0, NAME_CHARS)
      .toWellFormed()
      .replace(/[\p{C}\s]+/gu, ' ');
    if (names) names.push(printable);
    else this.names.set(reason, [printable]);
  }

  lines(): string[] {
    const [one, many] = nouns[this.kind];
    return [...this.names].map(([reason, names]) => {
      const count = names.length === 1 ? `1 ${one}` : `${names.length} ${many}`;
      return `${count} ${reason}: ${joined(names)}`;
    });
  }
}

function joined(names: readonly string[]): string {
  let text = names[0] ?? '';
  for (let i = 1; i < names.length; i++) {
    if (text.length > NAMED_CHARS) return `${text} and ${names.length - i} more`;
    text += `, ${names[i]}`;
  }
  return text;
}

/**
 * Validates the items a server lists of one kind; an invalid item does not affect the others. Of two items with
 * one key the first counts. Yields to the event loop.
 */
export async function readOffered(
  kind: OfferedKind,
  listed: readonly JsonObject[],
  provenance: Pick<Provenance, 'admit'>,
  maxBytes: number,
): Promise<{ readonly list: OfferedList; readonly remarks: string[] }> {
  const remarks = new Remarks(kind);
  const items = new Map<string, PageItem>();
  let bytes = 0;
  let slice = 0;
  for (const definition of listed) {
    const admitted = provenance.admit(definition);
    const item = 'refusal' in admitted ? admitted : readItem(kind, admitted.item);
    if ('refusal' in item) {
      remarks.add(item.refusal, item.name);
      continue;
    }
    if (item.repairs.length > 0) {
      remarks.add(`published in a repaired form, because ${inWords(item.repairs)}`, item.key);
    }
    const size = sizeOf(item);
    slice += size;
    if (slice > SLICE_BYTES) {
      slice = 0;
      await turn();
    }
    if (items.has(item.key))
      remarks.add('listed more than once, of which the first counts', item.key);
    else if (items.size === MAX_ITEMS[kind]) {
      remarks.add(`not published, over the limit of ${MAX_ITEMS[kind]} a server`, item.key);
    } else if (bytes + size > maxBytes) {
      remarks.add('not published, over the limit of MCP_AGGREGATOR_MAX_OFFERED_BYTES', item.key);
    } else {
      items.set(item.key, { key: item.key, json: item.json });
      bytes += size;
    }
  }
  return { list: await listOf([...items.values()], bytes), remarks: remarks.lines() };
}

/** Rebuilds a list from its stored definitions. */
export async function storedList(
  kind: OfferedKind,
  definitions: readonly string[],
): Promise<OfferedList> {
  const items: PageItem[] = [];
  let bytes = 0;
  let slice = 0;
  for (const json of definitions) {
    const parsed: unknown = JSON.parse(json);
    const key = isJsonObject(parsed) ? parsed[keyMember[kind]] : undefined;
    if (typeof key !== 'string') continue;
    items.push({ key, json });
    bytes += sizeOf({ key, json });
    slice += json.length;
    if (slice < SLICE_BYTES) continue;
    slice = 0;
    await turn();
  }
  return listOf(items, bytes);
}

function sizeOf({ key, json }: PageItem): number {
  return Buffer.byteLength(json) + key.length + ITEM_OVERHEAD_BYTES;
}

/** Orders items by their unique keys. */
async function listOf(items: readonly PageItem[], bytes: number): Promise<OfferedList> {
  const ordered = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const hash = createHash('sha256');
  let slice = 0;
  for (const { json } of ordered) {
    hash.update(json).update('\n');
    slice += json.length;
    if (slice < SLICE_BYTES) continue;
    slice = 0;
    await turn();
  }
  return new OfferedList(ordered, hash.digest('base64url'), bytes);
}

type Reading =
  | (PageItem & { readonly repairs: readonly string[] })
  | { readonly name: string; readonly refusal: string };

function readItem(kind: OfferedKind, definition: JsonObject): Reading {
  const key = definition[keyMember[kind]];
  if (typeof key !== 'string' || key === '') {
    return { name: '?', refusal: `not published, without a ${keyMember[kind]}` };
  }
  const refused = (reason: string): Reading => ({ name: key, refusal: `not published, ${reason}` });
  if (key.length > MAX_KEY_CHARS) {
    return refused(`with a ${keyMember[kind]} of more than ${MAX_KEY_CHARS} characters`);
  }
  const problem = definitionProblem(definition);
  if (problem) return refused(`because ${problem}`);
  if (kind === 'resourceTemplates' && !new UriTemplate(key).hasScheme) {
    return refused(
      'because a template without a scheme would answer for resources of other servers; it works at /mcp/servers/{name}',
    );
  }
  const repaired = repair(kind, definition);
  if ('refusal' in repaired) return refused(`because ${repaired.refusal}`);
  const json = JSON.stringify(repaired.item);
  if (json.length > PAGE_BYTES) return refused(`with more than ${PAGE_BYTES} bytes`);
  return { key, json, repairs: repaired.repairs };
}

/** The prompt as it is offered, in JSON; undefined for one that is not. */
export function repairedPrompt(definition: JsonObject): string | undefined {
  const read = readItem('prompts', definition);
  return 'json' in read ? read.json : undefined;
}

function repair(kind: OfferedKind, definition: JsonObject): Repaired {
  switch (kind) {
    case 'prompts':
      return repairPrompt(definition);
    case 'resources':
      return repairResource(definition, 'uri');
    case 'resourceTemplates':
      return repairResource(definition, 'uriTemplate');
  }
}
