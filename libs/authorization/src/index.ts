export { AuthorizationModule } from './authorization.module.js';
export { OwnAddress } from './consent/own-address.js';
export { ServerAuthorizations } from './server-authorizations.js';
