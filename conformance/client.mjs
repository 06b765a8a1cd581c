// The service as the client of a scenario: registers the server it is given, then uses all that server
// offers through /mcp/servers/{name}. Run by the suite: node client.mjs <url>
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { SWITCHBOARD_URL: service, SWITCHBOARD_TOKEN: token } = process.env;
const modern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28';
const { toolCalls, ...agreed } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}');
const target = process.argv.at(-1);
const name = `scenario-${process.pid}`;
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
/** More than any scenario requests; a scenario that requests input without end must stop. */
const MAX_CONSENTS = 5;

const oauth = await oauthConfig();
const server = await api('POST', '', {
  name,
  transport_type: 'HTTP',
  connection_config: { base_url: target, ...(oauth && { oauth }) },
});
try {
  for (let consents = 0; consents <= MAX_CONSENTS; consents++) {
    let { status, url } = await settled();
    if (status === 'CONNECTED' && !url) {
      await useEverything().catch(report);
      ({ url } = await settled());
    }
    if (!url || !(await consent(url))) break;
  }
} finally {
  await api('DELETE', `/${server.id}`);
}
process.exit();

/** The OAuth settings that an operator agreed with the authorization server and looks up there. */
async function oauthConfig() {
  if (!agreed.client_id) return undefined;
  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', target);
  const { authorization_servers: issuers } = await (await fetch(metadata)).json();
  const isUnattended = process.env.MCP_CONFORMANCE_SCENARIO?.startsWith('auth/client-credentials');
  return {
    ...(isUnattended && { grant: 'client_credentials' }),
    client_id: agreed.client_id,
    ...(agreed.client_secret && { client_secret: agreed.client_secret }),
    ...(agreed.private_key_pem && {
      private_key: agreed.private_key_pem,
      algorithm: agreed.signing_algorithm,
    }),
    issuer: issuers[0],
  };
}

/** A person who consents to everything: opens the page and is sent back. False when there is no way back. */
async function consent(url) {
  const { headers: answered } = await fetch(url, { redirect: 'manual' });
  const back = answered.get('location');
  if (!back) return false;
  const { ok } = await fetch(back);
  return ok;
}

async function api(method, path, body) {
  const answer = await fetch(`${service}/api/v1/aggregator/servers${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return text === '' ? {} : JSON.parse(text);
}

/** What state the server is in when it keeps it for a while. */
async function settled() {
  let last = '';
  let since = 0;
  for (let i = 0; i < 100; i++) {
    const { status, authorization } = await api('GET', `/${server.id}`);
    const url = authorization?.url;
    const now = `${status} ${url}`;
    since = now === last ? since + 1 : 0;
    last = now;
    if (url || (since >= 5 && (status === 'CONNECTED' || status === 'ERROR'))) {
      return { status, url };
    }
    await pause(100);
  }
  return { status: 'CONNECTING' };
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
  const calls =
    toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sample(tool, tools) }));
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

function sample({ inputSchema }, [first]) {
  const values = { string: 'us-west1', number: 5, integer: 5, boolean: true };
  const { schema, ...properties } = inputSchema.properties ?? {};
  return {
    ...Object.fromEntries(
      Object.entries(properties)
        .filter(([, { type }]) => type in values)
        .map(([key, { type }]) => [key, values[type]]),
    ),
    // A scenario that requests a schema compares it with its own.
    ...(schema && { schema: first.inputSchema }),
  };
}

function report(error) {
  console.error(String(error));
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
