/** What a person pastes where, so that a client of theirs uses this service. */
export interface ClientSnippet {
  readonly id: string;
  readonly name: string;
  /** Where it goes: a file, or a terminal. */
  readonly where: string;
  readonly language: 'json' | 'toml' | 'shell';
  readonly snippet: string;
}

/** Stands for a token; the service keeps only hashes and could not name one. */
export const TOKEN_PLACEHOLDER = 'YOUR_TOKEN';

export function clientSnippets(url: string): ClientSnippet[] {
  const headers = { Authorization: `Bearer ${TOKEN_PLACEHOLDER}` };
  return [
    {
      id: 'claude-desktop',
      name: 'Claude Desktop',
      where: 'claude_desktop_config.json (Settings → Developer → Edit Config)',
      language: 'json',
      // It starts programs only, so the bridge of our command line goes in between.
      snippet: json({
        mcpServers: {
          switchboard: {
            command: 'switchboard',
            args: ['stdio'],
            env: { SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: TOKEN_PLACEHOLDER },
          },
        },
      }),
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      where: 'a terminal',
      language: 'shell',
      snippet: `claude mcp add --transport http switchboard ${url} --header "Authorization: ${headers.Authorization}"`,
    },
    {
      id: 'cursor',
      name: 'Cursor',
      where: '~/.cursor/mcp.json, or .cursor/mcp.json in a project',
      language: 'json',
      snippet: json({ mcpServers: { switchboard: { url, headers } } }),
    },
    {
      id: 'vscode',
      name: 'VS Code',
      where: '.vscode/mcp.json, or "MCP: Open User Configuration"',
      language: 'json',
      snippet: json({
        servers: {
          switchboard: {
            type: 'http',
            url,
            headers: { Authorization: 'Bearer ${input:switchboard-token}' },
          },
        },
        inputs: [
          {
            type: 'promptString',
            id: 'switchboard-token',
            description: 'Token for Switchboard',
            password: true,
          },
        ],
      }),
    },
    {
      id: 'codex',
      name: 'Codex',
      where: '~/.codex/config.toml, with the token in the variable SWITCHBOARD_TOKEN',
      language: 'toml',
      snippet: `[mcp_servers.switchboard]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "SWITCHBOARD_TOKEN"\n`,
    },
  ];
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
