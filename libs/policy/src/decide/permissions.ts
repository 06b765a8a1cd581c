import { Injectable } from '@nestjs/common';
import { hasScope, isOfIssuer, personOf, type Principal, RateLimited } from '@app/access';
import { Clock } from '@app/platform';
import { ANYONE, type Grant, type GrantLevel, grantLevels, reaches } from '../grants/grant.js';
import { Policy } from '../policy.js';
import { GrantOnlyReads, NoGrant, ViewNotFound } from '../policy.errors.js';
import type { PolicySnapshot } from '../rows/policy-snapshot.js';
import { EVERYTHING } from '../views/offer.js';
import { DEFAULT_VIEW, type View } from '../views/view.js';
import type { Access, AccessReason } from './access.js';

const MINUTE_MS = 60_000;
const MAX_COUNTED = 10_000;

/** Decides which view a principal uses at an address, and how far. Nothing is awaited and no row is read. */
@Injectable()
export class Permissions {
  private decided = new WeakMap<Principal, Map<string, Access | undefined>>();
  private decidedFor: PolicySnapshot | undefined;
  private readonly calls = new Map<string, { minute: number; count: number }>();

  constructor(
    private readonly policy: Policy,
    private readonly clock: Clock,
  ) {}

  /** At `/mcp`. Throws NoGrant. */
  onDefault(principal: Principal): Access {
    const access = this.find(principal, DEFAULT_VIEW.slug);
    if (!access) throw new NoGrant(principal.name, DEFAULT_VIEW.slug);
    return access;
  }

  /** In the REST API, where admins see every tool as its server defines it. Throws NoGrant. */
  inRest(principal: Principal): Access {
    const access = this.onDefault(principal);
    return access.reason.kind === 'admin' ? { ...access, offer: EVERYTHING } : access;
  }

  /** The same for a call, which it counts. Throws NoGrant, GrantOnlyReads and RateLimited. */
  toCallInRest(principal: Principal): Access {
    const access = this.inRest(principal);
    if (access.level === 'read') throw new GrantOnlyReads(access.view.slug);
    this.countCall(access, principal);
    return access;
  }

  /** Whether it may know of every server and tool, because it operates them or is offered everything. */
  seesAll(principal: Principal): boolean {
    if (principal.pinned) return false;
    return (
      mayKnow(principal) || (this.find(principal, DEFAULT_VIEW.slug)?.offer.isEverything ?? false)
    );
  }

  /** At `/mcp/views/{slug}`. A view that the principal may not use does not exist for it. */
  onView(principal: Principal, slug: string): Access {
    const access = this.find(principal, slug);
    if (access) return access;
    const isKnown = mayKnow(principal) && this.policy.current.viewsBySlug.has(slug);
    throw isKnown ? new NoGrant(principal.name, slug) : new ViewNotFound(slug);
  }

  /** Undefined if the principal may not use the view, or there is none. */
  find(principal: Principal, slug: string): Access | undefined {
    const now = this.policy.current;
    if (now !== this.decidedFor) {
      this.decidedFor = now;
      this.decided = new WeakMap();
    }
    let known = this.decided.get(principal);
    if (!known) this.decided.set(principal, (known = new Map()));
    // A token of one view sees that at every address, and a client can invent addresses.
    const key = principal.pinned ? '' : slug;
    const remembered = known.get(key);
    if (remembered && remembered.until > this.clock.now().getTime()) return remembered;
    const access = this.decide(principal, slug, now);
    if (access) known.set(key, access);
    return access;
  }

  /** Counts a call against the limit of the grant. Throws RateLimited. */
  countCall({ reason, callsPerMinute }: Access, caller: Pick<Principal, 'name' | 'subject'>): void {
    if (reason.kind !== 'grant' || callsPerMinute === null) return;
    const { id } = reason.grant;
    const now = this.clock.monotonic();
    const minute = Math.floor(now / MINUTE_MS);
    const key = `${id} ${personOf(caller).subject}`;
    let counted = this.calls.get(key);
    if (counted?.minute !== minute) {
      this.calls.delete(key);
      this.calls.set(key, (counted = { minute, count: 0 }));
      if (this.calls.size > MAX_COUNTED)
        for (const oldest of this.calls.keys()) {
          this.calls.delete(oldest);
          break;
        }
    }
    if (counted.count >= callsPerMinute) {
      throw new RateLimited(Math.ceil(((minute + 1) * MINUTE_MS - now) / 1_000));
    }
    counted.count += 1;
  }

  private decide(principal: Principal, slug: string, now: PolicySnapshot): Access | undefined {
    const { pinned } = principal;
    if (pinned) {
      const view = now.viewsById.get(pinned.viewId);
      const level = grantLevels.find((one) => one === pinned.level);
      return view && level && accessTo(view, level, { kind: 'pinned' }, now);
    }
    const view = now.viewsBySlug.get(slug);
    if (!view) return undefined;
    if (hasScope(principal, 'admin')) return accessTo(view, 'call', { kind: 'admin' }, now);
    const grant = this.bestGrant(principal, view, now);
    return grant && accessTo(view, grant.level, { kind: 'grant', grant }, now);
  }

  /** The one that reaches farthest; of equal ones the one without a limit, then the one that lasts longest. */
  private bestGrant(principal: Principal, view: View, policy: PolicySnapshot): Grant | undefined {
    const grants = policy.grantsOn(view.id);
    const now = this.clock.now().getTime();
    let best: Grant | undefined;
    for (const subject of [...principal.subjects, ANYONE]) {
      const grant = grants.get(subject);
      if (!grant || endOf(grant) <= now || !isFor(grant, principal)) continue;
      if (!best || isBetter(grant, best)) best = grant;
    }
    return best;
  }
}

/** Whether it may know of what is not offered to it. A token of one view sees that, whatever its role. */
export function mayKnow(principal: Principal): boolean {
  return principal.pinned === undefined && hasScope(principal, 'operate');
}

function accessTo(
  view: View,
  level: GrantLevel,
  reason: AccessReason,
  policy: PolicySnapshot,
): Access | undefined {
  const offer = policy.offerOf(view.id, level === 'call_read_only');
  const until = reason.kind === 'grant' ? endOf(reason.grant) : Infinity;
  const callsPerMinute = reason.kind === 'grant' ? reason.grant.callsPerMinute : null;
  return offer && { view, level, offer, reason, callsPerMinute, until };
}

/** The `sub` of one issuer may be another person at the next one. */
function isFor({ issuer }: Grant, principal: Principal): boolean {
  return issuer === null || isOfIssuer(principal, issuer);
}

function endOf({ expiresAt }: Grant): number {
  return expiresAt?.getTime() ?? Infinity;
}

function isBetter(one: Grant, other: Grant): boolean {
  if (one.level !== other.level) return reaches(one.level, other.level);
  const [limit, otherLimit] = [one.callsPerMinute ?? Infinity, other.callsPerMinute ?? Infinity];
  return limit === otherLimit ? endOf(one) > endOf(other) : limit > otherLimit;
}
