import { clientSnippets } from './client-snippets.js';

const url = 'https://tools.example.com/mcp';
const snippets = clientSnippets(url);

describe(clientSnippets.name, () => {
  it('knows the clients that people use', () => {
    expect(snippets.map((snippet) => snippet.id)).toEqual([
      'claude-desktop',
      'claude-code',
      'cursor',
      'vscode',
      'codex',
    ]);
  });

  it('leads each of them here', () => {
    for (const { snippet } of snippets) expect(snippet).toContain(url);
  });

  it('gives JSON that can be pasted as it is', () => {
    for (const { language, snippet } of snippets) {
      if (language === 'json') expect(() => JSON.parse(snippet) as unknown).not.toThrow();
    }
  });
});
