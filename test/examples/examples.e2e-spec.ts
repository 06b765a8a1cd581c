import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { blocksOf, type Examples, startExamples } from '../support/examples.js';

const desktopConfig = z.object({
  mcpServers: z.object({
    switchboard: z.object({
      command: z.string(),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  }),
});
const projectConfig = z.object({
  mcpServers: z.object({
    switchboard: z.object({
      type: z.literal('http'),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
    }),
  }),
});

const programs = ['curl', 'sdk-v1', 'sdk-v2', 'agent'];
const configurations = ['claude-desktop', 'claude-code'];

describe('the examples', () => {
  let examples: Examples;
  beforeAll(async () => {
    examples = await startExamples();
  });
  afterAll(() => examples.stop());

  it.each(programs)('%s prints what its README says', async (example) => {
    const expected = await blocksOf(example, 'text');
    expect(expected).not.toBe('');
    expect(await examples.follow(example)).toEqual({ code: 0, stdout: expected, stderr: '' });
  });

  it('claude-desktop writes a configuration that starts a server with all tools', async () => {
    expect(await examples.follow('claude-desktop')).toMatchObject({ code: 0, stderr: '' });
    const file = await readFile(join(examples.folder, 'claude_desktop_config.json'), 'utf8');
    const { switchboard } = desktopConfig.parse(JSON.parse(file)).mcpServers;
    const client = new LegacySdk({ name: 'claude-desktop', version: '1' });
    await client.connect(new StdioClientTransport(switchboard));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('everything__echo');
    await client.close();
  });

  it('claude-code leads to all tools when its variables are set, and holds no secret', async () => {
    expect(await examples.follow('claude-code')).toMatchObject({ code: 0, stderr: '' });
    const file = await readFile(join(examples.folder, '.mcp.json'), 'utf8');
    expect(file).not.toContain(examples.token);
    const variables = { SWITCHBOARD_URL: examples.url, SWITCHBOARD_TOKEN: examples.token };
    const { switchboard } = projectConfig.parse(JSON.parse(expand(file, variables))).mcpServers;
    const client = new ModernSdk({ name: 'claude-code', version: '1' });
    const { url, headers } = switchboard;
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('everything__echo');
    await client.close();
  });

  it('are all run here and named in their README', async () => {
    const entries = await readdir('examples', { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.toSorted()).toEqual([...programs, ...configurations].toSorted());
    const readme = await readFile('examples/README.md', 'utf8');
    expect(folders.filter((name) => !readme.includes(`(${name}/README.md)`))).toEqual([]);
  });
});

/** Expands `${NAME}` and `${NAME:-default}` as Claude Code does. */
function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (whole, name: string, other?: string) => {
    return variables[name] ?? other ?? whole;
  });
}
