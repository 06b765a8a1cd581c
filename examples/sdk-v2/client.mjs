import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: token } = process.env;

async function connect(path) {
  const client = new Client(
    { name: 'example', version: '1.0.0' },
    // Asks for the stateless revision first; without it, the client speaks the older ones.
    { versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(path, url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}

const all = await connect('/mcp');
console.log('revision', all.getNegotiatedProtocolVersion());
const sum = await all.callTool({ name: 'everything__get-sum', arguments: { a: 2, b: 40 } });
console.log(sum.content[0].text);
await all.close();

const one = await connect('/mcp/servers/everything');
const echo = await one.callTool({ name: 'echo', arguments: { message: 'hello' } });
console.log(echo.content[0].text);
await one.close();
