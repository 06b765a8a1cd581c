import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditEntity } from './audit.entity.js';
import { AuditStore } from './audit.store.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntity])],
  providers: [AuditStore],
  exports: [AuditStore],
})
export class AccessModule {}
