import { headerText, paramHeaders, paramHeadersOf } from './param-headers.js';
import fc from 'fast-check';

describe('arguments sent as headers', () => {
  const schema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: { type: 'object', properties: { on: { type: 'boolean', 'x-mcp-header': 'On' } } },
      plain: { type: 'string' },
      bad: { type: 'string', 'x-mcp-header': 'no token' },
    },
  };

  it('are found at any depth, under valid header names', () => {
    expect(paramHeadersOf(schema).map(({ name }) => name)).toEqual(['Region', 'On']);
    expect(paramHeadersOf({ 'x-mcp-header': 'Root' })).toEqual([]);
    expect(paramHeadersOf(undefined)).toEqual([]);
  });

  it('are sent when they are present', () => {
    const declared = paramHeadersOf(schema);
    const args = { region: 'eu', deep: { on: true }, plain: 'x' };
    expect(paramHeaders(declared, args)).toEqual({
      'mcp-param-region': 'eu',
      'mcp-param-on': 'true',
    });
    expect(paramHeaders(declared, { region: null, deep: 7 })).toEqual({});
    expect(paramHeaders(declared, undefined)).toEqual({});
  });

  it('can be any text: values that a header cannot carry are encoded as base64', () => {
    expect(headerText('plain text')).toBe('plain text');
    expect(headerText('Größe')).toBe(`=?base64?${Buffer.from('Größe').toString('base64')}?=`);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const encoded = headerText(text);
        expect(encoded).toMatch(/^[\t\x20-\x7e]+$/);
        expect(encoded).toBe(encoded.trim());
        const wrapped = /^=\?base64\?(.*)\?=$/.exec(encoded);
        const decoded = wrapped ? Buffer.from(wrapped[1] ?? '', 'base64').toString() : encoded;
        expect(decoded).toBe(Buffer.from(text).toString());
      }),
    );
  });
});
