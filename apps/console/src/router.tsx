import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router';
import { PageFailed, PageNotFound } from './shell/page-failed.js';
import { Shell } from './shell/shell.js';
import { LoginPage } from './session/login.page.js';

/** Filters, tabs and selections live in the address, as text; a page reads what it knows and ignores the rest. */
export type PageSearch = Readonly<Record<string, string | undefined>>;

/** The router parses values as JSON where it can: `?tab=1` is a number. */
function readSearch(search: Record<string, unknown>): PageSearch {
  const read = (value: unknown): string | undefined =>
    typeof value === 'string' ? value : JSON.stringify(value);
  return Object.fromEntries(Object.entries(search).map(([key, value]) => [key, read(value)]));
}

const root = createRootRoute({
  component: Outlet,
  errorComponent: PageFailed,
  notFoundComponent: PageNotFound,
});

const login = createRoute({ getParentRoute: () => root, path: '/login', component: LoginPage });

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  validateSearch: readSearch,
});

type Loader = Parameters<typeof lazyRouteComponent>[0];

/** A page of its own file, which the browser loads with the first visit. */
function page<Path extends string>(path: Path, load: Loader, name: string) {
  return createRoute({
    getParentRoute: () => shell,
    path,
    component: lazyRouteComponent(load, name),
    errorComponent: PageFailed,
  });
}

const pages = [
  page('/', () => import('./pages/overview/overview.page.js'), 'OverviewPage'),
  page('/activity', () => import('./pages/activity/activity.page.js'), 'ActivityPage'),
  page('/servers', () => import('./pages/servers/servers.page.js'), 'ServersPage'),
  page('/servers/$name', () => import('./pages/server/server.page.js'), 'ServerPage'),
  page('/tools', () => import('./pages/tools/tools.page.js'), 'ToolsPage'),
  page('/tools/$name', () => import('./pages/tool/tool.page.js'), 'ToolPage'),
  page('/skills', () => import('./pages/skills/skills.page.js'), 'SkillsPage'),
  page('/search', () => import('./pages/search/search.page.js'), 'SearchPage'),
  page('/query', () => import('./pages/query/query.page.js'), 'QueryPage'),
  page('/approvals', () => import('./pages/approvals/approvals.page.js'), 'ApprovalsPage'),
  page('/views', () => import('./pages/views/views.page.js'), 'ViewsPage'),
  page('/views/$slug', () => import('./pages/views/view.page.js'), 'ViewPage'),
  page('/access', () => import('./pages/access/access.page.js'), 'AccessPage'),
  page('/sessions', () => import('./pages/sessions/sessions.page.js'), 'SessionsPage'),
  page('/connections', () => import('./pages/connections/connections.page.js'), 'ConnectionsPage'),
  page('/connect', () => import('./pages/connect/connect.page.js'), 'ConnectPage'),
  page('/settings', () => import('./pages/settings/settings.page.js'), 'SettingsPage'),
];

export const router = createRouter({
  routeTree: root.addChildren([login, shell.addChildren(pages)]),
  basepath: '/console',
  // All values are texts: `?id=12`, where the usual way quotes what looks like a number.
  parseSearch: parseSearchWith(String),
  stringifySearch: stringifySearchWith(String),
  defaultPreload: 'intent',
});
