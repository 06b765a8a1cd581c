import { access } from './access.js';
import { activity } from './activity.js';
import { approvals } from './approvals.js';
import { common } from './common.js';
import { connect } from './connect.js';
import { connections } from './connections.js';
import { feed } from './feed.js';
import { errors } from './errors.js';
import { form } from './form.js';
import { login } from './login.js';
import { nav } from './nav.js';
import { overview } from './overview.js';
import { policy } from './policy.js';
import { query } from './query.js';
import { search } from './search.js';
import { server } from './server.js';
import { servers } from './servers.js';
import { sessions } from './sessions.js';
import { settings } from './settings.js';
import { skills } from './skills.js';
import { tool } from './tool.js';
import { tools } from './tools.js';
import { views } from './views.js';

/** Every sentence that the console shows, a file for each page; another language is another such object. */
export const texts = {
  access,
  activity,
  approvals,
  common,
  connect,
  connections,
  errors,
  feed,
  form,
  login,
  nav,
  overview,
  policy,
  query,
  search,
  server,
  servers,
  sessions,
  settings,
  skills,
  tool,
  tools,
  views,
} as const;
