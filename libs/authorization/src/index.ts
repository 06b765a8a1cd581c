export { AuthorizationModule } from './authorization.module.js';
export { OwnAddress } from './consent/own-address.js';
export { ServerAuthorizations } from './server-authorizations.js';
export { type PersonAccess, PersonCredentials } from './persons/person-credentials.js';
export { isConnectionRequired } from './persons/persons.errors.js';
export { PersonRowsModule } from './persons/person-rows.module.js';
