import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { PersonCredentialStore } from './person-credential.store.js';
import { ResealPersonCredentials } from './reseal-person-credentials.js';

/** The rows alone, for the rotation of the credential key. */
@Module({
  imports: [RegistryModule],
  providers: [PersonCredentialStore, ResealPersonCredentials],
  exports: [PersonCredentialStore],
})
export class PersonRowsModule {}
