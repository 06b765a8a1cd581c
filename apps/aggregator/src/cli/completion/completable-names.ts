import type { Service } from '../locate-service.js';
import { allViews } from '../policy/show-views.js';
import { RestClient } from '../rest-client.js';
import { allServers } from '../servers/find-server.js';
import { toolsLike } from '../tools/find-tool.js';
import type { Candidate, NameKind } from './candidates.js';

/** A shell waits for it at every Tab. */
const DEADLINE_MS = 800;
const MOST_TOOLS = 500;

/** Names at the service; none if it does not answer in time. */
export async function namesOf(
  kind: NameKind,
  current: string,
  service: Service,
): Promise<readonly Candidate[]> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const rest = new RestClient(service, (input, init) => fetch(input, { ...init, signal }));
  return readNames(kind, current, rest).catch(() => []);
}

async function readNames(
  kind: NameKind,
  current: string,
  rest: RestClient,
): Promise<readonly Candidate[]> {
  switch (kind) {
    case 'server': {
      const { items } = await allServers(rest);
      return items.map(({ name, status }) => ({ word: name, description: status }));
    }
    case 'tool': {
      const [server, ...others] = current.split('.');
      const filter = others.length > 0 ? { server } : {};
      const { items } = await toolsLike(rest, filter, MOST_TOOLS);
      return items.map(({ name, description }) => ({ word: name, description }));
    }
    case 'skill': {
      const { skills } = await rest.ask((api) => api.listSkills({ query: { limit: 500 } }));
      return skills.map(({ id, name }) => ({ word: id, description: name }));
    }
    case 'view': {
      const { items } = await allViews(rest);
      return items.map(({ slug, title }) => ({ word: slug, description: title ?? '' }));
    }
    case 'client': {
      const { clients } = await rest.ask((api) => api.listClientSnippets());
      return clients.map(({ id, name }) => ({ word: id, description: name }));
    }
  }
}
