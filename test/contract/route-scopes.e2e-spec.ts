import { startApp } from '../support/app.js';
import { operationsOf, readOpenApi } from '../support/openapi.js';

const AGGREGATOR = '/api/v1/aggregator';

/** Every route of the REST API. A new one is placed here by what it does, not by who asks for it (decision 0432). */
const ROUTES = {
  /** Health for load balancers. */
  public: `
    GET /health
    GET /health/live
    GET /health/ready
    GET {}/health
    GET {}/health/live
    GET {}/health/ready`,
  /** Tells what there is. */
  read: `
    GET /metrics
    GET {}/approvals
    GET {}/approvals/{id}
    GET {}/clients
    GET {}/clients/{client}
    GET {}/me
    GET {}/query/rules
    GET {}/query/servers
    GET {}/query/servers/{name}
    GET {}/servers
    GET {}/servers/{id}
    GET {}/servers/{id}/discovery
    GET {}/servers/{id}/health
    GET {}/servers/{id}/history
    GET {}/servers/{id}/tools
    GET {}/skill-suggestions
    GET {}/skills
    GET {}/skills/{id}
    GET {}/skills/{id}/tools
    GET {}/state
    GET {}/tools
    GET {}/tools/{id}
    GET {}/tools/{id}/skills
    POST /api/v1/search
    GET /api/v1/events
    GET {}/servers/{id}/health/history
    GET {}/sessions
    GET {}/stats
    POST {}/login-links
    GET {}/tools/rows
    GET /api/v1/oauth/grants
    DELETE /api/v1/oauth/grants/{id}
    GET /api/v1/me/connections`,
  /** Makes servers do something. */
  call: `
    GET {}/results/{id}
    POST /api/v1/tools/call
    PUT /api/v1/me/connections/{id}
    DELETE /api/v1/me/connections/{id}
    POST /api/v1/me/connections/{id}/expire
    POST /api/v1/me/connections/{id}/link
    POST {}/query`,
  /** Daily work with what is defined, and what explains it. */
  operate: `
    GET {}/grants
    GET {}/policy/history
    GET {}/servers/{id}/logs
    GET {}/views
    GET {}/views/{slug}
    GET {}/views/{slug}/preview
    DELETE {}/tools/{id}/learning
    DELETE {}/tools/{id}/skills
    POST {}/access/explain
    POST {}/approvals/{id}/approve
    POST {}/approvals/{id}/reject
    POST {}/servers/{id}/approve-all
    POST {}/servers/{id}/connect
    POST {}/servers/{id}/disconnect
    POST {}/servers/{id}/tools/refresh
    POST {}/skill-suggestions/{id}/approve
    POST {}/skill-suggestions/{id}/reject
    POST {}/tools/{id}/approve
    POST {}/views/preview
    PUT {}/tools/{id}/skills
    DELETE {}/sessions/{id}`,
  /** Defines servers, credentials, views, grants, overrides, tokens, skills and settings, or shows what only that needs. */
  admin: `
    GET {}/audit
    POST {}/backup
    POST {}/reload
    GET {}/people
    GET {}/policy/export
    GET {}/tokens
    GET {}/tokens/{id}
    GET {}/tools/{id}/override
    GET {}/tools/{id}/overrides
    DELETE {}/grants/{id}
    DELETE {}/people/{id}
    DELETE {}/query/servers/{name}
    DELETE {}/servers/{id}
    DELETE {}/skills/{id}
    DELETE {}/tokens/{id}
    DELETE {}/tools/{id}/override
    DELETE {}/views/{slug}
    PATCH {}/servers/{id}
    PATCH {}/skills/{id}
    POST {}/grants
    POST {}/policy/import
    POST {}/servers
    POST {}/servers/{id}/authorize
    POST {}/skills
    POST {}/tokens
    POST {}/tokens/{id}/invitations
    POST {}/tokens/{id}/rotate
    POST {}/views
    POST {}/views/{slug}/clone
    PUT {}/query/rules
    PUT {}/query/servers/{name}
    PUT {}/tools/{id}/override
    PUT {}/views/{slug}
    GET {}/settings
    POST {}/servers/test
    GET {}/audit/export
    GET {}/webhooks
    GET {}/webhooks/{id}
    POST /api/v1/oauth/keys/rotate
    POST {}/webhooks
    PATCH {}/webhooks/{id}
    DELETE {}/webhooks/{id}
    GET {}/servers/{id}/connections
    DELETE {}/servers/{id}/connections/{connection}
    POST {}/servers/{id}/connections/{connection}/expire
    POST {}/servers/import
    POST {}/servers/import/preview`,
};

const placed = Object.entries(ROUTES).flatMap(([scope, routes]) =>
  routes
    .split('\n')
    .map((route) => route.trim().replace('{}', AGGREGATOR))
    .filter(Boolean)
    .map((route) => `${scope} ${route}`),
);

it('gives every route of the API description the scope that is decided for it', async () => {
  const service = await startApp();
  try {
    const routes = operationsOf(await readOpenApi(service));
    const described = routes.map(
      ({ method, path, scope = 'public' }) => `${scope} ${method} ${path}`,
    );
    expect(described.toSorted()).toEqual(placed.toSorted());
  } finally {
    await service.close();
  }
});
