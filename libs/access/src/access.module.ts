import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessControl } from './access-control.js';
import { AuditController } from './audit.controller.js';
import { AuditEntity } from './audit.entity.js';
import { AuditStore } from './audit.store.js';
import { Authenticator } from './authenticator.js';
import { JwtVerifier } from './jwt-verifier.js';
import { ProtectedResourceController } from './protected-resource.controller.js';
import { PruneAuditJob } from './prune-audit.job.js';
import { RefusalLog } from './refusal-log.js';
import { TokenStore } from './token.store.js';
import { Tokens } from './tokens.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntity])],
  controllers: [AuditController, ProtectedResourceController],
  providers: [
    AccessControl,
    AuditStore,
    Authenticator,
    JwtVerifier,
    PruneAuditJob,
    RefusalLog,
    TokenStore,
    Tokens,
  ],
  exports: [AuditStore],
})
export class AccessModule {}
