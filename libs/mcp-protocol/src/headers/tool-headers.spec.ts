import { ToolHeaders } from './tool-headers.js';

const tool = (name: string, header?: string) => ({
  name,
  inputSchema: {
    type: 'object',
    properties: { region: { type: 'string', ...(header && { 'x-mcp-header': header }) } },
  },
});

describe(ToolHeaders.name, () => {
  const args = { region: 'eu' };

  it('writes the arguments that the tool declares', () => {
    const headers = new ToolHeaders();
    headers.note([tool('a', 'Region'), tool('b')]);
    expect(headers.of('a', args)).toEqual({ 'mcp-param-region': 'eu' });
    expect(headers.of('b', args)).toEqual({});
    expect(headers.of('unknown', args)).toEqual({});
  });

  it('writes what a schema from elsewhere declares until the tool is listed', () => {
    const headers = new ToolHeaders();
    const { inputSchema } = tool('a', 'Region');
    expect(headers.of('a', args, inputSchema)).toEqual({ 'mcp-param-region': 'eu' });
    expect(headers.of('a', args, tool('a').inputSchema)).toEqual({});
    headers.note([tool('a', 'Place')]);
    expect(headers.of('a', args, inputSchema)).toEqual({ 'mcp-param-place': 'eu' });
  });

  it('follows a tool that declares another header, or no header any more', () => {
    const headers = new ToolHeaders();
    headers.note([tool('a', 'Region')]);
    headers.note([tool('a', 'Place')]);
    expect(headers.of('a', args)).toEqual({ 'mcp-param-place': 'eu' });
    headers.note([tool('a')]);
    expect(headers.of('a', args)).toEqual({});
    expect(headers.size).toBe(0);
  });

  it('keeps a bounded number of tools, the most recently listed', () => {
    const headers = new ToolHeaders();
    for (let list = 0; list < 30; list++) {
      headers.note(Array.from({ length: 1_000 }, (_, i) => tool(`t${list}-${i}`, 'Region')));
    }
    expect(headers.size).toBe(10_000);
    expect(headers.of('t0-0', args)).toEqual({});
    expect(headers.of('t29-999', args)).toEqual({ 'mcp-param-region': 'eu' });
  });
});
