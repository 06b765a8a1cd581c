import type { RpcNotification } from '../codec/message.js';

/** The parameter that the Mcp-Name header repeats. */
const namedBy: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** The tool, prompt or resource that a request names, if any. */
export function subjectOf(request: Omit<RpcNotification, 'jsonrpc'>): string | undefined {
  const subject = request.params?.[namedBy[request.method] ?? ''];
  return typeof subject === 'string' ? subject : undefined;
}
