import { listTools } from './mcp-client.mjs';

export async function upstreamTools(session) {
  const tools = [];
  await listTools(session, (tool) => tools.push(tool));
  return tools;
}
