import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { ClientGrantStore } from './client-grant.store.js';
import { KeyStore } from './key.store.js';
import { RecordStore } from './record.store.js';
import { ResealOAuth } from './reseal-oauth.js';

/** The rows alone, for the rotation of the credential key. */
@Module({
  imports: [RegistryModule],
  providers: [ClientGrantStore, KeyStore, RecordStore, ResealOAuth],
  exports: [ClientGrantStore, KeyStore, RecordStore],
})
export class OAuthRowsModule {}
