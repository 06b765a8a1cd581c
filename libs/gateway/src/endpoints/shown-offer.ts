import type { Catalogue, CatalogueSnapshot } from '@app/catalogue';
import { DEFAULT_VIEW, type Offer, type Policy } from '@app/policy';

const NAMES = /[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/gu;
/** Such as `search`: that it is in a text says nothing of a tool. */
const PLAIN_WORD = /^\p{L}\p{Ll}*$/u;

/**
 * What a surface shows: the offer of one view at one level. It follows the policy and the catalogue, so that a surface
 * can live as long as the sessions of its clients.
 */
export class ShownOffer {
  /** Part of the key of a surface; empty for the default view. */
  readonly key: string;
  private followed: Offer;

  constructor(
    private readonly policy: Policy,
    private readonly whole: Catalogue,
    readonly viewId: string,
    private readonly isReadOnly: boolean,
  ) {
    const view = viewId === DEFAULT_VIEW.id ? '' : `:${viewId}`;
    this.key = `${view}${isReadOnly ? ':read-only' : ''}`;
    this.followed = this.offer;
  }

  get offer(): Offer {
    return this.policy.offerOf(this.viewId, this.isReadOnly);
  }

  get catalogue(): CatalogueSnapshot {
    return this.catalogueOf(this.offer);
  }

  /** The offer before changes of the policy that were not taken yet; undefined if it is the same now. */
  takeReplaced(): Offer | undefined {
    const before = this.followed;
    this.followed = this.offer;
    return before === this.followed ? undefined : before;
  }

  /** What another offer makes of the catalogue as it is now. */
  catalogueOf(offer: Offer): CatalogueSnapshot {
    return offer.catalogue(this.whole.current);
  }

  /** Whether a text names a tool of the server that the view leaves out. */
  namesHidden(serverId: string, text: string): boolean {
    const { catalogue } = this;
    const all = this.whole.current;
    if (catalogue === all) return false;
    const hidden = (all.toolsByServer.get(serverId) ?? []).filter(
      ({ id, originalName }) => !catalogue.toolsById.has(id) && !PLAIN_WORD.test(originalName),
    );
    if (hidden.length === 0) return false;
    const words = new Set(text.match(NAMES));
    return hidden.some(({ originalName }) => words.has(originalName));
  }

  /** Of results; undefined for that of the deployment. */
  get budgetTokens(): number | undefined {
    return this.offer.view.budgetTokens ?? undefined;
  }

  get isGone(): boolean {
    return !this.policy.current.viewsById.has(this.viewId);
  }
}
