import { isJsonObject } from '@app/platform';

/** Finding out what there is. All else makes a server do something. */
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

/** Tools of ours that look and call nothing. */
const LOOKING_TOOLS = new Set(['search_tools', 'describe_tool']);

/** Whether a body asks for more than a token with the scope `read` may have. */
export function asksForCall(body: unknown, endpoint: 'search' | 'other'): boolean {
  return (Array.isArray(body) ? body : [body]).some((message: unknown) => {
    if (!isJsonObject(message)) return false;
    const { id, method, params } = message;
    if (typeof method !== 'string' || id === undefined || LOOKING.has(method)) return false;
    const tool = method === 'tools/call' && isJsonObject(params) ? params['name'] : undefined;
    return !(endpoint === 'search' && typeof tool === 'string' && LOOKING_TOOLS.has(tool));
  });
}
