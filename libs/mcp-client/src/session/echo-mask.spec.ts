import { EchoMask } from './echo-mask.js';
import fc from 'fast-check';

const SECRET = 'canary-7f3a9c';
/** A secret with characters that JSON, URLs and the like escape differently. */
const AWKWARD = 'a"b\\c/d+e=f\u00e9<g>-7f3a9c21\nh';

const told = (json: string, ...credentials: string[]): string | undefined =>
  new EchoMask(credentials).frame(Buffer.from(json))?.toString();

describe(EchoMask.name, () => {
  it('passes on a frame without a secret as the same bytes', () => {
    const frame = Buffer.from(
      '{"jsonrpc":"2.0","id":1,"result":{"n":1e400,"text":"canary-7f3a9"}}',
    );
    expect(new EchoMask([SECRET]).frame(frame)).toBe(frame);
    expect(new EchoMask([]).frame(frame)).toBe(frame);
  });

  it.each([
    ['a result', `{"id":1,"result":{"content":[{"type":"text","text":"key: ${SECRET}."}]}}`],
    ['an error', `{"id":1,"error":{"code":-1,"message":"bad ${SECRET}","data":["${SECRET}"]}}`],
    ['a description', `{"tools":[{"name":"a","description":"uses ${SECRET}"}]}`],
    ['a key', `{"${SECRET}":1}`],
    ['a log', `{"method":"notifications/message","params":{"data":{"env":"${SECRET}"}}}`],
  ])('takes it out of %s', (_, json) => {
    expect(told(json, SECRET)).toBe(json.replaceAll(SECRET, '********'));
  });

  it('changes no other byte', () => {
    const json = `{ "a" : 9007199254740993,\t"b":1e400, "c":"\\u00e9\\/", "d" : "x${SECRET}\\/y", "a":-0 }`;
    expect(told(json, SECRET)).toBe(json.replace(SECRET, '********'));
    const awkward = json.replace(SECRET, 'can ary-7f3a9c');
    expect(told(awkward, 'can ary-7f3a9c')).toBe(json.replace(`"x${SECRET}\\/y"`, '"x********/y"'));
  });

  it('leaves everything outside of strings unchanged', () => {
    const number = '12345678901234';
    expect(told(`{"n":${number},"s":"${number}"}`, number)).toBe(`{"n":${number},"s":"********"}`);
  });

  it('masks a string after a number that looks like the secret', () => {
    const number = '12345678901234';
    expect(told(`[${number},"${number}"]`, number)).toBe(`[${number},"********"]`);
  });

  it.each([0, 1, 254, 255, 256, 257, 1_000])(
    'finds the end of a string of any length (%s)',
    (n) => {
      const secret = 'can ary-7f3a9c';
      for (const filler of ['x', '\\\\', '\\"']) {
        const text = filler.repeat(n);
        const json = `{"${text}":"${text}","b":[1,"${text}${secret}"],"c":"${secret}${text}"}`;
        const expected = JSON.stringify(JSON.parse(json.replaceAll(secret, '********')));
        expect(told(json, secret)).toBe(expected);
      }
    },
  );

  it('masks megabytes of text without decoding them', () => {
    const secret = 'can ary-7f3a9c';
    const text = `${'x'.repeat(20_000)} ${secret} and can%20ary-7f3a9c`;
    const json = JSON.stringify(Array.from({ length: 200 }, () => text));
    const expected = json.replaceAll(secret, '********').replaceAll('can%20ary-7f3a9c', '********');
    expect(told(json, secret)).toBe(expected);
  });

  it.each([
    ['as JSON writes it', JSON.stringify(AWKWARD)],
    ['in ASCII', JSON.stringify(AWKWARD).replace('\u00e9', '\\u00e9')],
    ['as Go writes it', JSON.stringify(AWKWARD).replace('<', '\\u003c').replace('>', '\\u003E')],
    [
      'as .NET writes it',
      JSON.stringify(AWKWARD).replace('+', '\\u002B').replace('\\"', '\\u0022'),
    ],
    ['with escaped slashes', JSON.stringify(AWKWARD).replace('/', '\\/')],
    ['as JSON inside of text', JSON.stringify(JSON.stringify({ env: AWKWARD }))],
    [
      'as JSON inside of JSON inside of text',
      JSON.stringify(JSON.stringify({ a: JSON.stringify(AWKWARD) })),
    ],
    ['in a URL', JSON.stringify(`https://a.example/?key=${encodeURIComponent(AWKWARD)}&x=1`)],
  ])('finds it %s', (_, string) => {
    const json = `{"text":${string}}`;
    const answer = told(json, AWKWARD) ?? '';
    const { text } = JSON.parse(answer) as { text: string };
    expect(text).toContain('********');
    expect(answer).not.toContain('7f3a9c21');
  });

  it('masks the longest of overlapping secrets', () => {
    expect(told(`{"a":"Bearer ${SECRET}"}`, `Bearer ${SECRET}`, SECRET)).toBe('{"a":"********"}');
  });

  it('masks a short secret only as a whole word', () => {
    expect(told('{"a":"one two","b":"the key is red"}', 'key is')).toBe(
      '{"a":"one two","b":"the ******** red"}',
    );
    expect(told('{"a":"keys"}', 'key is')).toBe('{"a":"keys"}');
  });

  it('follows credentials that change', () => {
    const authorizer = { header: undefined as string | undefined };
    const mask = new EchoMask([], authorizer);
    const json = '{"a":"token-one-1","b":"token-two-2"}';
    const now = (): string | undefined => mask.frame(Buffer.from(json))?.toString();
    expect(now()).toBe(json);
    authorizer.header = 'Bearer token-one-1';
    expect(now()).toBe('{"a":"********","b":"token-two-2"}');
    authorizer.header = 'Bearer token-two-2';
    expect(now()).toBe('{"a":"token-one-1","b":"********"}');
  });

  it('masks a secret in text that is not JSON', () => {
    expect(new EchoMask([SECRET]).text(`<h1>${SECRET}</h1>`)).toBe('<h1>********</h1>');
  });

  it('leaves invalid JSON invalid, so that the parser refuses it', () => {
    for (const secret of [SECRET, 'can ary-7f3a9c']) {
      for (const broken of [`{"a":"${secret}`, `"${secret}\\x"`, secret, '"\\']) {
        expect([broken, broken.replaceAll(secret, '********')]).toContain(told(broken, secret));
      }
    }
  });

  it.each([SECRET, 'can ary-7f3a9c'])(
    'refuses a message that consists only of echoes of %s',
    (secret) => {
      const many = (count: number): string =>
        JSON.stringify(Array.from({ length: count }, () => secret));
      expect(told(many(1_000), secret)).toBe(many(1_000).replaceAll(secret, '********'));
      expect(told(many(1_001), secret)).toBeUndefined();
    },
  );

  it('writes valid JSON with every string masked and the rest unchanged', () => {
    const secret = fc.constantFrom(SECRET, AWKWARD, 'q"7"ffffff', '\\\\n1234567');
    const text = fc.array(fc.oneof(fc.string(), secret)).map((parts) => parts.join(''));
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(json, secret, (value, credential) => {
        const before = JSON.stringify(value);
        const after = told(before, credential) ?? '';
        const expected: unknown = JSON.parse(before, (_key, one: unknown) =>
          typeof one === 'string' ? new EchoMask([credential]).text(one) : one,
        );
        expect(JSON.parse(after, (_key, one: unknown) => one)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
