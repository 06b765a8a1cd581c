import { Injectable } from '@nestjs/common';
import { DefinitionScreening, hasHiddenCharacters } from '@app/approvals';
import { isJsonObject, type JsonObject, type Tx } from '@app/platform';
import type { OfferedList } from '../lists/offered-list.js';
import { OfferingStore, WITHHELD_PROMPTS } from '../lists/offering.store.js';
import type { PageItem } from '../lists/paging.js';
import { storedList } from '../lists/read-offered.js';

/** Decides which prompts of a server are offered (contract R57), and stores them together with the decision. */
@Injectable()
export class PromptScreening {
  constructor(
    private readonly screening: DefinitionScreening,
    private readonly store: OfferingStore,
  ) {}

  /** Undefined for a list that is undefined. */
  async offered(serverId: string, list: OfferedList | undefined): Promise<OfferedList | undefined> {
    const items = list?.items ?? [];
    const listed = items.map(({ key: name, json }) => ({
      name,
      definition: objectIn(json),
      hasHidden: hasHiddenCharacters(json),
    }));
    let before: readonly string[] | undefined;
    const among = (names: ReadonlySet<string>): PageItem[] =>
      items.filter(({ key }) => names.has(key));
    const names = await this.screening.publish(serverId, 'prompt', listed, {
      read: async (tx) => {
        before = await this.store.itemsOf(serverId, 'prompts', tx);
        return before && new Map(before.map((json) => [nameIn(json), objectIn(json)]));
      },
      write: async (offered, tx) => {
        const after = list && among(offered);
        const isSame = JSON.stringify(after?.map(({ json }) => json)) === JSON.stringify(before);
        if (!isSame) await this.store.replace(serverId, 'prompts', after, tx);
        const names = items.flatMap(({ key }) => (offered.has(key) ? [] : [JSON.stringify(key)]));
        const isAlike = await this.hasNamed(serverId, names, tx);
        if (!isAlike) await this.nameWithheld(serverId, names, tx);
        if (!isSame || !isAlike) await this.store.tellIn(tx, serverId);
      },
    });
    if (!list || names.size === items.length) return list;
    return storedList(
      'prompts',
      among(names).map(({ json }) => json),
    );
  }

  private async hasNamed(serverId: string, names: readonly string[], tx: Tx): Promise<boolean> {
    const before = await this.store.itemsOf(serverId, WITHHELD_PROMPTS, tx);
    return JSON.stringify(before ?? []) === JSON.stringify(names);
  }

  private nameWithheld(serverId: string, names: readonly string[], tx: Tx): Promise<void> {
    const items = names.length === 0 ? undefined : names.map((json) => ({ json }));
    return this.store.replace(serverId, WITHHELD_PROMPTS, items, tx);
  }
}

function objectIn(json: string): JsonObject {
  const parsed: unknown = JSON.parse(json);
  return isJsonObject(parsed) ? parsed : {};
}

function nameIn(json: string): string {
  const { name } = objectIn(json);
  return typeof name === 'string' ? name : '';
}
