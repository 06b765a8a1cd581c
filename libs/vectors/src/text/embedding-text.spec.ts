import { toolText, type ToolWords } from './embedding-text.js';

const tool: ToolWords = {
  server: 'github',
  name: 'createIssue',
  description: 'Opens an issue',
  parameters: ['repoName'],
};

describe(toolText, () => {
  it('consists of server, name, description and parameters, as words', () => {
    expect(toolText(tool)).toBe('github: create Issue. Opens an issue. Parameters: repo Name');
  });

  it('includes the descriptions of parameters', () => {
    expect(toolText({ ...tool, parameterDescriptions: ['Owner and name'] })).toMatch(
      /repo Name\. Owner and name$/,
    );
  });

  it('limits descriptions of parameters to half of the rest', () => {
    const text = toolText({ ...tool, parameterDescriptions: ['word '.repeat(1_000)] });
    expect(text.length).toBeLessThan(2 * toolText(tool).length);
  });

  it('is cut to the length that a model reads', () => {
    const long = 'word '.repeat(50_000);
    const text = toolText({ ...tool, description: long, parameterDescriptions: [long] });
    expect(text.length).toBe(8_000);
    expect(text).toMatch(/^github: create Issue\. word word/);
  });
});
