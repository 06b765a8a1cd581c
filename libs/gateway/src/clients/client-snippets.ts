/** A configuration snippet that connects an MCP client to this service. */
export interface ClientSnippet {
  readonly id: string;
  readonly name: string;
  /** Where to paste it: a file, or a terminal. */
  readonly where: string;
  readonly language: 'json' | 'toml' | 'shell';
  readonly snippet: string;
}

/** Placeholder for a token: the service stores only hashes and cannot show one. */
export const TOKEN_PLACEHOLDER = 'YOUR_TOKEN';

/**
 * Command line of our stdio bridge. Paths are absolute, because clients have their own PATH and working directory.
 */
export interface Bridge {
  readonly command: string;
  readonly args: readonly string[];
}

/** `bridge` is for clients that support only stdio; it connects to the same endpoint as `url`. */
export function clientSnippets(url: string, bridge: Bridge): ClientSnippet[] {
  const headers = { Authorization: `Bearer ${TOKEN_PLACEHOLDER}` };
  return [
    {
      id: 'claude-desktop',
      name: 'Claude Desktop',
      where:
        'claude_desktop_config.json (Settings → Developer → Edit Config); the paths are those of the machine that this service runs on',
      language: 'json',
      // This client supports only stdio, so it starts our bridge.
      snippet: json({
        mcpServers: {
          switchboard: {
            ...bridge,
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

/** Every snippet under a heading that names its client and its place. */
export function snippetsAsText(snippets: readonly ClientSnippet[]): string {
  return snippets
    .map(({ name, where, snippet }) => `# ${name}: ${where}\n\n${snippet.trimEnd()}\n`)
    .join('\n');
}
