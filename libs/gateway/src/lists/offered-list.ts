import { firstAfter, type PageItem } from './paging.js';

/** The kinds of items that servers offer besides tools. */
export const OFFERED_KINDS = ['prompts', 'resources', 'resourceTemplates'] as const;
export type OfferedKind = (typeof OFFERED_KINDS)[number];

/** The member that identifies a definition within its kind. */
export const keyMember = {
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
} as const satisfies Record<OfferedKind, string>;

/**
 * The items of one kind that one server offers, by key. Stored as JSON text: parsed objects take several times the
 * memory.
 */
export class OfferedList {
  constructor(
    /** Ordered by key, each key once. */
    readonly items: readonly PageItem[],
    /** Hash of the items. */
    readonly digest: string,
    /** Approximate size in memory. */
    readonly bytes: number,
  ) {}

  find(key: string): PageItem | undefined {
    const before = this.items[this.startAfter(key) - 1];
    return before?.key === key ? before : undefined;
  }

  startAfter(key: string | undefined): number {
    return firstAfter(this.items, (item) => item.key, key);
  }
}

/** The lists of one server; a kind is undefined when the server lacks the capability or it was never read. */
export type Offering = Readonly<Partial<Record<OfferedKind, OfferedList>>>;

/**
 * Merges ordered lists, starting behind `after`. Of items with the same key, the one in the first list wins. The
 * cost depends on the items read, not on the length of the lists.
 */
export function* merged(
  lists: readonly OfferedList[],
  after: string | undefined,
): Generator<PageItem> {
  const places = lists.map((list) => ({ items: list.items, at: list.startAfter(after) }));
  for (;;) {
    let least: PageItem | undefined;
    for (const { items, at } of places) {
      const item = items[at];
      if (item && (least === undefined || item.key < least.key)) least = item;
    }
    if (!least) return;
    for (const place of places) if (place.items[place.at]?.key === least.key) place.at++;
    yield least;
  }
}
