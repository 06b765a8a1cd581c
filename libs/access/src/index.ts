export { AccessControl } from './authorize/access-control.js';
export { Challenges } from './authorize/challenges.js';
export {
  actorOf,
  CallerMay,
  callerMay,
  CurrentActor,
  CurrentPrincipal,
  Public,
  principalOf,
  RequireScope,
} from './authorize/access.decorators.js';
export { JwtRefused, LoginRefused, RateLimited } from './access.errors.js';
export { AccessModule } from './access.module.js';
export { adminTokenNotice, clientSnippet, tokenHash } from './authenticate/admin-token.js';
export { claimAt, groupsIn, scopesOfRoles, wordsIn } from './authenticate/claims.js';
export { type IdTokens, openIssuer } from './authenticate/open-issuer.js';
export type { ProvedPerson } from './people/person.js';
export { PersonStore } from './people/person.store.js';
export { JwtVerifier, type OwnJwts } from './authenticate/jwt-verifier.js';
export { LruMap } from './authenticate/lru-map.js';
export {
  MCP_ROUTES,
  reaches,
  reachOf,
  resourceOf,
  type TokenReach,
} from './authenticate/oauth-metadata.js';
export { ChoosePassword } from './passwords/choose-password.command.js';
export { PageLogin, pastedCredential } from './browser-sessions/page-login.js';
export { ConsoleAccessModule } from './console-access.module.js';
export { FindViewSlug } from './browser-sessions/find-view-slug.query.js';
export { AuditLosses } from './audit/audit-losses.js';
export { type AuditEntry, AuditStore } from './audit/audit.store.js';
export { MakeLoginLink } from './browser-sessions/make-login-link.command.js';
export { FindView, type ViewLevel, viewLevels } from './tokens/find-view.query.js';
export {
  addressOf,
  type Actor,
  hasScope,
  isOfIssuer,
  type Person,
  personOf,
  type Principal,
  principalName,
  subjectIn,
  SYSTEM,
} from './authenticate/principal.js';
export { CallerTokens } from './authenticate/caller-tokens.js';
export { StillAdmitted } from './authorize/still-admitted.js';
export { normalOrigin } from './authorize/request-origin.js';
export { Tokens } from './authenticate/tokens.js';
