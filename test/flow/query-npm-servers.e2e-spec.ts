import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { npmServer } from '../support/servers.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

/** The setup of a new user: real servers and settings in one file, and an MCP client. */
describe('one question to the memory and filesystem servers from npm', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  let client: Client;

  const ask = async (query: string): Promise<unknown> =>
    (await client.callTool({ name: 'mcp__proxy__aggregator__query', arguments: { query } }))
      .structuredContent;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const papers = join(folder.path, 'papers');
    await mkdir(papers);
    await writeFile(join(papers, 'compiler-history.txt'), 'Grace Hopper wrote the first compiler.');
    const config = {
      mcpServers: {
        memory: {
          ...npmServer('memory'),
          env: { MEMORY_FILE_PATH: join(folder.path, 'memory.json') },
        },
        filesystem: npmServer('filesystem', papers),
      },
      aggregation: {
        rules: [{ pattern: '\\bfile\\b', servers: ['filesystem'] }],
        servers: {
          filesystem: { tool: 'search_files', argument: 'pattern', arguments: { path: papers } },
        },
      },
    };
    await writeFile(join(folder.path, 'servers.json'), JSON.stringify(config));
    service = await startProcess(folder.path, {
      MCP_AGGREGATOR_CONFIG: join(folder.path, 'servers.json'),
    });
    client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${service.token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }),
    );
    await eventually(async () => {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['memory__create_entities', 'filesystem__search_files']),
      );
    });
    const observations = ['wrote the first compiler', 'was a rear admiral'];
    const entities = [{ name: 'Grace Hopper', entityType: 'person', observations }];
    await client.callTool({ name: 'memory__create_entities', arguments: { entities } });
  });

  afterAll(async () => {
    await client.close();
    service.child.kill();
    await service.exited;
    await folder.remove();
  });

  it('is answered by every server with matching content, in any wording', async () => {
    expect(await ask('Who wrote the first compiler?')).toMatchObject({
      results: [
        {
          content: expect.stringContaining('Grace Hopper'),
          server: 'memory',
          tool: 'search_nodes',
          rank: 1,
        },
      ],
      metadata: { serversQueried: 2, serversSucceeded: 2, serverDiversity: 0.5 },
    });
  });

  it('uses the rules and the tool of the servers file', async () => {
    expect(await ask('In which folder is the file compiler-history.txt?')).toMatchObject({
      results: [
        {
          content: expect.stringMatching(/papers.compiler-history\.txt$/),
          server: 'filesystem',
          tool: 'search_files',
        },
      ],
      metadata: { serversQueried: 1 },
    });
  });

  it('succeeds without results when no server has any', async () => {
    expect(await ask('What is the airspeed velocity of an unladen swallow?')).toMatchObject({
      results: [],
      metadata: { serversSucceeded: 2, totalResultsRaw: 0, resultsReturned: 0 },
    });
  });
});
