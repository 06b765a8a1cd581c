import { Foundation1763460000000 } from './1763460000000-foundation.js';
import { ToolVectors1763470000000 } from './1763470000000-tool-vectors.js';
import { Skills1763470100000 } from './1763470100000-skills.js';
import { QuerySettings1763480000000 } from './1763480000000-query-settings.js';
import { ServerAuthorizations1763490000000 } from './1763490000000-server-authorizations.js';
import { ToolVectorsByTool1763500000000 } from './1763500000000-tool-vectors-by-tool.js';
import { AuditByServerAndEvent1763510000000 } from './1763510000000-audit-by-server-and-event.js';
import { ServerOfferings1763520000000 } from './1763520000000-server-offerings.js';
import { ServerVersion1763530000000 } from './1763530000000-server-version.js';
import { ToolLists1763535000000 } from './1763535000000-tool-lists.js';
import { DisconnectingServers1763536000000 } from './1763536000000-disconnecting-servers.js';
import { ToolClassifiedBy1763540000000 } from './1763540000000-tool-classified-by.js';
import { ServerIdDefault1763541000000 } from './1763541000000-server-id-default.js';
import { SuggestedSkills1763550000000 } from './1763550000000-suggested-skills.js';
import { LeaderLease1763700000000 } from './1763700000000-leader-lease.js';
import { ConnectionVersion1763710000000 } from './1763710000000-connection-version.js';
import { Replicas1763720000000 } from './1763720000000-replicas.js';
import { IssuedTokens1763800000000 } from './1763800000000-issued-tokens.js';
import { ServerAsksCallers1763810000000 } from './1763810000000-server-asks-callers.js';
import { Policy1764000000000 } from './1764000000000-policy.js';
import { Approvals1764100000000 } from './1764100000000-approvals.js';
import { KeptResults1764200000000 } from './1764200000000-kept-results.js';
import { CallDays1764300000000 } from './1764300000000-call-days.js';
import { BrowserSessions1764310000000 } from './1764310000000-browser-sessions.js';
import { LoginCodes1764320000000 } from './1764320000000-login-codes.js';
import { AuditFilters1764345000000 } from './1764345000000-audit-filters.js';
import { Webhooks1764350000000 } from './1764350000000-webhooks.js';
import { OAuth1764400000000 } from './1764400000000-oauth.js';
import { Passwords1764401000000 } from './1764401000000-passwords.js';
import { TokenAccounts1764405000000 } from './1764405000000-token-accounts.js';
import { ServerCredentialMode1764410000000 } from './1764410000000-server-credential-mode.js';
import { PersonCredentials1764411000000 } from './1764411000000-person-credentials.js';
import { PersonCredentialsSeen1764412000000 } from './1764412000000-person-credentials-seen.js';
import { ToolUses1764500000000 } from './1764500000000-tool-uses.js';
import { NextToClassify1764600000000 } from './1764600000000-next-to-classify.js';
import { People1764810000000 } from './1764810000000-people.js';
import { OAuthKeyEnds1764811000000 } from './1764811000000-oauth-key-ends.js';
import { Subjects1764900000000 } from './1764900000000-subjects.js';
import { GrantIssuers1765000000000 } from './1765000000000-grant-issuers.js';

/** In order; a list rather than a file pattern, so that tsc, Jest and the running service see the same. */
export const migrations = [
  Foundation1763460000000,
  ToolVectors1763470000000,
  Skills1763470100000,
  QuerySettings1763480000000,
  ServerAuthorizations1763490000000,
  ToolVectorsByTool1763500000000,
  AuditByServerAndEvent1763510000000,
  ServerOfferings1763520000000,
  ServerVersion1763530000000,
  ToolLists1763535000000,
  DisconnectingServers1763536000000,
  ToolClassifiedBy1763540000000,
  ServerIdDefault1763541000000,
  SuggestedSkills1763550000000,
  LeaderLease1763700000000,
  ConnectionVersion1763710000000,
  Replicas1763720000000,
  IssuedTokens1763800000000,
  ServerAsksCallers1763810000000,
  Policy1764000000000,
  Approvals1764100000000,
  KeptResults1764200000000,
  CallDays1764300000000,
  BrowserSessions1764310000000,
  LoginCodes1764320000000,
  AuditFilters1764345000000,
  Webhooks1764350000000,
  OAuth1764400000000,
  Passwords1764401000000,
  TokenAccounts1764405000000,
  ServerCredentialMode1764410000000,
  PersonCredentials1764411000000,
  PersonCredentialsSeen1764412000000,
  ToolUses1764500000000,
  NextToClassify1764600000000,
  People1764810000000,
  OAuthKeyEnds1764811000000,
  Subjects1764900000000,
  GrantIssuers1765000000000,
] as const;
