export { AuthorizationServer } from './provider/authorization-server.js';
export { ClientDocuments } from './provider/client-documents.js';
export { OAuthModule } from './oauth.module.js';
export { OAuthRowsModule } from './rows/oauth-rows.module.js';
