import { toolText, type ToolWords } from './tool-text.js';

const tool: ToolWords = {
  server: 'github',
  name: 'createIssue',
  description: 'Opens an issue',
  parameters: ['repoName'],
};

describe(toolText, () => {
  it('reads as words: server, name, description and parameters', () => {
    expect(toolText(tool)).toBe('github: create Issue. Opens an issue. Parameters: repo Name');
  });

  it('says what the parameters are said to be', () => {
    expect(toolText({ ...tool, parameterDescriptions: ['Owner and name'] })).toMatch(
      /repo Name\. Owner and name$/,
    );
  });

  it('lets no description of a parameter hide what the tool is for', () => {
    const text = toolText({ ...tool, parameterDescriptions: ['word '.repeat(1_000)] });
    expect(text.length).toBeLessThan(2 * toolText(tool).length);
  });
});
