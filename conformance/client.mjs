// The service as the client of a scenario: registers the server it is given, then uses all that server
// offers through /mcp/servers/{name}. Run by the suite: node client.mjs <url>
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { SWITCHBOARD_URL: service, SWITCHBOARD_TOKEN: token } = process.env;
const modern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28';
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}');
const name = `scenario-${process.pid}`;
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

const server = await api('POST', '', {
  name,
  transport_type: 'HTTP',
  connection_config: { base_url: process.argv.at(-1) },
});
try {
  if ((await settled()) === 'CONNECTED') await useEverything();
} finally {
  await api('DELETE', `/${server.id}`);
}
process.exit();

async function api(method, path, body) {
  const answer = await fetch(`${service}/api/v1/aggregator/servers${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return text === '' ? {} : JSON.parse(text);
}

async function settled() {
  for (let i = 0; i < 100; i++) {
    const { status } = await api('GET', `/${server.id}`);
    if (status === 'CONNECTED' || status === 'ERROR') return status;
    await pause(100);
  }
  return 'CONNECTING';
}

async function useEverything() {
  const client = new Client(
    { name: 'conformance', version: '1' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      ...(modern && { versionNegotiation: { mode: 'auto' } }),
    },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  const url = new URL(`${service}/mcp/servers/${name}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const offered = client.getServerCapabilities() ?? {};
  // As a client of its own would see it, a moment after it connected.
  await pause(500);
  const { tools } = offered.tools ? await client.listTools() : { tools: [] };
  const calls = toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sample(tool) }));
  for (const call of calls) await client.callTool(call).catch(report);
  if (offered.resources) {
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource({ uri }).catch(report);
  }
  if (offered.prompts) {
    const { prompts } = await client.listPrompts();
    for (const prompt of prompts) {
      await client.getPrompt({ name: prompt.name, arguments: {} }).catch(report);
    }
  }
  await client.close();
}

function sample({ inputSchema }) {
  const values = { string: 'us-west1', number: 5, integer: 5, boolean: true };
  return Object.fromEntries(
    Object.entries(inputSchema.properties ?? {})
      .filter(([, { type }]) => type in values)
      .map(([key, { type }]) => [key, values[type]]),
  );
}

function report(error) {
  console.error(String(error));
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
