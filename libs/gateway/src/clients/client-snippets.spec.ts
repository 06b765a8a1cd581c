import { clientSnippets, snippetsAsText, TOKEN_PLACEHOLDER } from './client-snippets.js';

const url = 'https://tools.example.com/mcp';
const bridge = { command: '/opt/node', args: ['/opt/switchboard/cli.js', 'stdio', 'all'] };
const snippets = clientSnippets(url, bridge);

const snippetOf = (client: string): string =>
  snippets.find(({ id }) => id === client)?.snippet ?? '';

describe(clientSnippets.name, () => {
  it('covers the common clients', () => {
    expect(snippets.map((snippet) => snippet.id)).toEqual([
      'claude-desktop',
      'claude-code',
      'cursor',
      'vscode',
      'codex',
    ]);
  });

  it('starts our bridge where a client supports only stdio', () => {
    expect(JSON.parse(snippetOf('claude-desktop'))).toEqual({
      mcpServers: {
        switchboard: {
          ...bridge,
          env: { SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: TOKEN_PLACEHOLDER },
        },
      },
    });
  });

  it('sends the token as a bearer in every other client', () => {
    expect(snippetOf('claude-code')).toBe(
      `claude mcp add --transport http switchboard ${url} --header "Authorization: Bearer YOUR_TOKEN"`,
    );
    const headers = { Authorization: 'Bearer YOUR_TOKEN' };
    expect(JSON.parse(snippetOf('cursor'))).toEqual({
      mcpServers: { switchboard: { url, headers } },
    });
    expect(JSON.parse(snippetOf('vscode'))).toMatchObject({
      servers: {
        switchboard: {
          type: 'http',
          url,
          headers: { Authorization: 'Bearer ${input:switchboard-token}' },
        },
      },
      inputs: [{ type: 'promptString', id: 'switchboard-token', password: true }],
    });
    expect(snippetOf('codex')).toBe(
      `[mcp_servers.switchboard]\nurl = "${url}"\nbearer_token_env_var = "SWITCHBOARD_TOKEN"\n`,
    );
  });

  it('points each of them to this service', () => {
    for (const { snippet } of snippets) expect(snippet).toContain(url);
  });

  it('contains JSON that can be pasted unchanged', () => {
    for (const { language, snippet } of snippets) {
      if (language === 'json') expect(() => JSON.parse(snippet) as unknown).not.toThrow();
    }
  });
});

describe(snippetsAsText.name, () => {
  it('prints every snippet unchanged, under its client and its place', () => {
    const text = snippetsAsText(snippets);
    for (const { name, where, snippet } of snippets) {
      expect(text).toContain(`# ${name}: ${where}\n\n${snippet.trimEnd()}\n`);
    }
  });
});
