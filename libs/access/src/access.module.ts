import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessControl } from './authorize/access-control.js';
import { Challenges } from './authorize/challenges.js';
import { AuditController } from './audit/audit.controller.js';
import { AuditEntity } from './audit/audit.entity.js';
import { auditEntriesLost, AuditLosses } from './audit/audit-losses.js';
import { AuditExport } from './audit/audit-export.js';
import { AuditStore } from './audit/audit.store.js';
import { Authenticator } from './authenticate/authenticator.js';
import { JwtVerifier } from './authenticate/jwt-verifier.js';
import { ProtectedResourceController } from './authenticate/protected-resource.controller.js';
import { PruneAuditJob } from './audit/prune-audit.job.js';
import { RefusalLog } from './audit/refusal-log.js';
import { BrowserSessionStore } from './browser-sessions/browser-session.store.js';
import { BrowserSessions } from './browser-sessions/browser-sessions.js';
import { LogInHandler } from './browser-sessions/log-in.command.js';
import { LogOutHandler } from './browser-sessions/log-out.command.js';
import { LoginCodeStore } from './browser-sessions/login-code.store.js';
import { MakeLoginLinkHandler } from './browser-sessions/make-login-link.command.js';
import { PageLogin } from './browser-sessions/page-login.js';
import { PruneBrowserSessionsJob } from './browser-sessions/prune-browser-sessions.job.js';
import { ChoosePasswordHandler } from './passwords/choose-password.command.js';
import { InvitePersonHandler } from './passwords/invite-person.command.js';
import { PasswordStore } from './passwords/password.store.js';
import { EndPersonHandler } from './people/end-person.command.js';
import { PeopleController } from './people/people.controller.js';
import { PersonStore } from './people/person.store.js';
import { ProviderLogins } from './people/provider-logins.js';
import { IssuedTokenStore } from './tokens/issued-token.store.js';
import { IssueTokenHandler } from './tokens/issue-token.command.js';
import { ReloadTokensOnReplicaNews } from './tokens/reload-tokens.on-replica-news.js';
import { RevokeTokenHandler } from './tokens/revoke-token.command.js';
import { RotateTokenHandler } from './tokens/rotate-token.command.js';
import { StillAdmitted } from './authorize/still-admitted.js';
import { SyncTokensJob } from './tokens/sync-tokens.job.js';
import { TokensController } from './tokens/tokens.controller.js';
import { TokenStore } from './authenticate/token.store.js';
import { CallerTokens } from './authenticate/caller-tokens.js';
import { Tokens } from './authenticate/tokens.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntity])],
  controllers: [AuditController, PeopleController, ProtectedResourceController, TokensController],
  providers: [
    AccessControl,
    auditEntriesLost,
    AuditLosses,
    AuditStore,
    AuditExport,
    Authenticator,
    BrowserSessions,
    CallerTokens,
    BrowserSessionStore,
    Challenges,
    ChoosePasswordHandler,
    EndPersonHandler,
    InvitePersonHandler,
    IssuedTokenStore,
    IssueTokenHandler,
    JwtVerifier,
    LogInHandler,
    LoginCodeStore,
    LogOutHandler,
    MakeLoginLinkHandler,
    PageLogin,
    PasswordStore,
    PersonStore,
    ProviderLogins,
    PruneAuditJob,
    PruneBrowserSessionsJob,
    RefusalLog,
    ReloadTokensOnReplicaNews,
    RevokeTokenHandler,
    RotateTokenHandler,
    StillAdmitted,
    SyncTokensJob,
    TokenStore,
    Tokens,
  ],
  exports: [
    AuditLosses,
    AuditStore,
    Authenticator,
    BrowserSessions,
    Challenges,
    JwtVerifier,
    PageLogin,
    PasswordStore,
    PersonStore,
    CallerTokens,
    StillAdmitted,
    Tokens,
  ],
})
export class AccessModule {}
