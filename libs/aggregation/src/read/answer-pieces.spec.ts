import type { JsonObject } from '@app/platform';
import { piecesOfAnswer } from './answer-pieces.js';

const piecesOf = (result: JsonObject) => piecesOfAnswer(result).pieces;
const ofText = (text: string) => piecesOf({ content: [{ type: 'text', text }] });
const ofJson = (value: unknown) => ofText(JSON.stringify(value));

describe(piecesOfAnswer, () => {
  it('reads each content block that contains text', () => {
    expect(
      piecesOf({
        content: [
          { type: 'text', text: 'plain words' },
          { type: 'image', data: 'aGk=', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'docs://1', text: 'an embedded text' } },
          { type: 'resource', resource: { uri: 'docs://2', blob: 'aGk=' } },
          { type: 'resource_link', uri: 'docs://3', name: 'manual', description: 'How to' },
        ],
      }),
    ).toEqual([
      { text: 'plain words' },
      { text: 'an embedded text', url: 'docs://1' },
      { text: 'manual\nHow to', url: 'docs://3' },
    ]);
  });

  it('makes one piece per list element, with its URL and date', () => {
    expect(
      ofJson({
        total: 2,
        results: [
          { title: 'Hooks', content: 'State in functions', url: 'https://a.example', score: 0.9 },
          { title: 'Classes', content: 'State in classes', updated_at: '2025-01-02T00:00:00Z' },
        ],
      }),
    ).toEqual([
      { text: 'Hooks\nState in functions\nscore: 0.9', url: 'https://a.example' },
      {
        text: 'Classes\nState in classes\nupdated_at: 2025-01-02T00:00:00Z',
        writtenAt: Date.UTC(2025, 0, 2),
      },
    ]);
  });

  it('unwraps containers with a single field', () => {
    const edges = [{ node: { name: 'one' } }, { node: { name: 'two' } }];
    expect(ofJson({ data: { search: { edges } } })).toEqual([{ text: 'one' }, { text: 'two' }]);
    expect(ofJson(['one', 'two'])).toEqual([{ text: 'one' }, { text: 'two' }]);
    expect(ofJson({ results: [] })).toEqual([]);
  });

  it('keeps a record and its lists in one piece', () => {
    expect(
      ofJson({ entities: [{ name: 'Ada', type: 'person', observations: ['likes tea', 'codes'] }] }),
    ).toEqual([{ text: 'Ada\ntype: person\nobservations: likes tea; codes' }]);
    expect(ofJson({ title: 'One page', content: 'its text', tags: ['a', 'b'] })).toEqual([
      { text: 'One page\nits text\ntags: a; b' },
    ]);
  });

  it('reads structured content once when it is repeated as text', () => {
    const structuredContent = { items: [{ snippet: 'only once' }] };
    const content = [{ type: 'text', text: JSON.stringify(structuredContent) }];
    expect(piecesOf({ content, structuredContent })).toEqual([{ text: 'only once' }]);
    const plain = { content: [{ type: 'text', text: 'a "text"' }] };
    expect(piecesOf({ ...plain, structuredContent: { content: 'a "text"' } })).toEqual([
      { text: 'a "text"' },
    ]);
    expect(piecesOf({ ...plain, structuredContent: { count: 1 } })).toContainEqual({
      text: 'a "text"',
    });
  });

  it('uses the date of a block for its text', () => {
    const annotations = { lastModified: '2025-06-01T00:00:00Z' };
    expect(piecesOf({ content: [{ type: 'text', text: 'dated', annotations }] })).toEqual([
      { text: 'dated', writtenAt: Date.UTC(2025, 5, 1) },
    ]);
  });

  it('splits long texts of records, each part with title and URL', () => {
    const content = 'Something that is said at length. '.repeat(200);
    const pieces = ofJson([{ title: 'Long', url: 'https://a.example', content }]);
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) {
      expect(piece).toMatchObject({
        text: expect.stringMatching(/^Long\n/),
        url: 'https://a.example',
      });
    }
  });

  it('treats "nothing found" sentences as no result', () => {
    for (const text of [
      'No matches found',
      'No results.',
      '0 documents found for "x"',
      'Nothing found',
    ]) {
      expect(ofText(text)).toEqual([]);
    }
    expect(ofJson({ entities: [], relations: [], total: '' })).toEqual([]);
    expect(ofText('No React hook may be called in a loop')).toHaveLength(1);
  });

  it('reads text that only looks like JSON as text', () => {
    expect(ofText('[note] see the manual')).toEqual([{ text: '[note] see the manual' }]);
  });

  it('reports that an answer was read only in part', () => {
    const huge = piecesOfAnswer({ content: [{ type: 'text', text: 'word '.repeat(200_000) }] });
    expect(huge.isCut).toBe(true);
    expect(huge.pieces.length).toBeLessThanOrEqual(250);
    expect(piecesOfAnswer({ content: [{ type: 'text', text: 'short' }] }).isCut).toBe(false);
  });

  it('returns no pieces for malformed results', () => {
    expect(piecesOf({})).toEqual([]);
    expect(piecesOf({ content: 'text' })).toEqual([]);
    expect(piecesOf({ content: [{ type: 'text' }, { type: 'resource' }, 7] })).toEqual([]);
    expect(piecesOf({ structuredContent: {} })).toEqual([]);
  });
});
