// Lists a server's tools without the service, or one endpoint of the service, as the JSON that was received.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';

/** What the service declares to servers; some list other tools to clients that can do less. */
const capabilities = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};
const STARTS_WITHIN_MS = 60_000;
const KEPT_CHARS = 2_000;

/** `{tools}`, or `{error}` in the words of the program where it said something. */
export async function listDirectly({ command, args, env, cwd }) {
  const transport = new StdioClientTransport({ command, args, env, cwd, stderr: 'pipe' });
  let said = '';
  transport.stderr?.on('data', (bytes) => (said = (said + bytes).slice(-KEPT_CHARS)));
  try {
    return { tools: await listAll(transport) };
  } catch (error) {
    return { error: said.trim() || error.message };
  }
}

export function listThrough(url, token) {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  return listAll(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
}

async function listAll(transport) {
  const client = new Client({ name: 'real', version: '1' }, { capabilities });
  const timeout = STARTS_WITHIN_MS;
  try {
    await client.connect(transport, { timeout });
    const tools = [];
    let params = {};
    do {
      const page = await client.request({ method: 'tools/list', params }, ResultSchema, {
        timeout,
      });
      tools.push(...page.tools);
      params = { cursor: page.nextCursor };
    } while (params.cursor !== undefined);
    return tools;
  } finally {
    await client.close();
  }
}
