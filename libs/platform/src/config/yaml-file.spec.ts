import { jsonTextOf } from './yaml-file.js';

describe(jsonTextOf.name, () => {
  it('returns JSON as it is, with its comments', async () => {
    expect(await jsonTextOf('{"a": 1, // one\n}', 'servers.json')).toBe('{"a": 1, // one\n}');
  });

  it.each(['servers.yaml', 'servers.YML'])('rewrites YAML: %s', async (file) => {
    const text =
      'views:\n  support: &s # ours\n    rules: [{server: github}]\n    on: 2027-01-31\n';
    expect(JSON.parse(await jsonTextOf(text, file))).toEqual({
      views: { support: { rules: [{ server: 'github' }], on: '2027-01-31' } },
    });
    expect(await jsonTextOf('', file)).toBe('{}');
  });

  it.each([
    ['a: [1\nb: 2\n', 'it is not valid YAML: see line 2'],
    ['a: 1\na: 2\n', 'it is not valid YAML: see line 2'],
    ['? [a]\n: 1\n', 'it is not valid YAML'],
    [
      `a: &a [1,1]\n${Array.from({ length: 20 }, (_, i) => `b${i}: &b${i} [${`*${i === 0 ? 'a' : `b${i - 1}`},`.repeat(9)}]\n`).join('')}`,
      'it is not valid YAML',
    ],
    [`a: ${'['.repeat(100_000)}`, 'it is not valid YAML'],
  ])('names the position of a mistake (%#)', async (text, problem) => {
    await expect(jsonTextOf(text, 'servers.yaml')).rejects.toThrow(problem);
  });

  it('never quotes the file', async () => {
    await expect(jsonTextOf('key: "s3cret\n', 'a.yml')).rejects.toThrow(/^(?!.*s3cret)/);
  });
});
