export type { Access } from './decide/access.js';
export { FollowsPolicy } from './decide/follows-policy.js';
export { Permissions } from './decide/permissions.js';
export { fillArguments } from './overrides/fill-arguments.js';
export { Policy } from './policy.js';
export { GrantOnlyReads } from './policy.errors.js';
export { PolicyModule } from './policy.module.js';
export { EVERYTHING, type Offer } from './views/offer.js';
export { DEFAULT_VIEW } from './views/view.js';
