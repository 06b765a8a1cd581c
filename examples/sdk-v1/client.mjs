import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: token } = process.env;

const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);

const { tools } = await client.listTools();
console.log(tools.some(({ name }) => name === 'everything__get-sum') ? 'found' : 'not found');

const result = await client.callTool({
  name: 'everything__get-sum',
  arguments: { a: 2, b: 40 },
});
console.log(result.content[0].text);

await client.close();
