import { isJsonObject } from '@app/platform';

/** Methods that only read. All others make a server do something. */
const LOOKING = new Set([
  'initialize',
  'ping',
  'server/discover',
  'subscriptions/listen',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

/** Own tools that only search the catalogue and call no server. */
const LOOKING_TOOLS = new Set(['search_tools', 'describe_tool']);

/** Whether a body needs the scope `call`, because it does more than a token with the scope `read` may. */
export function asksForCall(body: unknown, endpoint: 'search' | 'other'): boolean {
  return (Array.isArray(body) ? body : [body]).some((message: unknown) => {
    if (!isJsonObject(message)) return false;
    const { id, method, params } = message;
    if (typeof method !== 'string' || id === undefined || LOOKING.has(method)) return false;
    const tool = method === 'tools/call' && isJsonObject(params) ? params['name'] : undefined;
    return !(endpoint === 'search' && typeof tool === 'string' && LOOKING_TOOLS.has(tool));
  });
}
