import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessControl } from './authorize/access-control.js';
import { AuditController } from './audit/audit.controller.js';
import { AuditEntity } from './audit/audit.entity.js';
import { auditEntriesLost, AuditLosses } from './audit/audit-losses.js';
import { AuditStore } from './audit/audit.store.js';
import { Authenticator } from './authenticate/authenticator.js';
import { JwtVerifier } from './authenticate/jwt-verifier.js';
import { ProtectedResourceController } from './authenticate/protected-resource.controller.js';
import { PruneAuditJob } from './audit/prune-audit.job.js';
import { RefusalLog } from './audit/refusal-log.js';
import { TokenStore } from './authenticate/token.store.js';
import { Tokens } from './authenticate/tokens.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntity])],
  controllers: [AuditController, ProtectedResourceController],
  providers: [
    AccessControl,
    auditEntriesLost,
    AuditLosses,
    AuditStore,
    Authenticator,
    JwtVerifier,
    PruneAuditJob,
    RefusalLog,
    TokenStore,
    Tokens,
  ],
  exports: [AuditLosses, AuditStore],
})
export class AccessModule {}
