import { Injectable } from '@nestjs/common';
import type { Principal } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Policy } from '../policy.js';
import { Permissions } from './permissions.js';

/** Which servers a principal may know of, at whichever address: for what concerns a server as a whole. */
@Injectable()
export class OfferedServers {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly policy: Policy,
    private readonly permissions: Permissions,
  ) {}

  has(principal: Principal, serverId: string): boolean {
    if (this.permissions.seesAll(principal)) return true;
    const { current } = this.catalogue;
    for (const slug of this.policy.current.viewsBySlug.keys()) {
      const offer = this.permissions.find(principal, slug)?.offer;
      if (offer?.catalogue(current).servers.has(serverId)) return true;
    }
    return false;
  }
}
