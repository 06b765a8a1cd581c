import { readAnswer } from './json-rpc.js';

const read = (text: string): { id: unknown; result: string } | undefined => {
  const answer = readAnswer(Buffer.from(text));
  return answer && { id: answer.id, result: answer.result.bytes.toString() };
};
const big = `{"big":"${'x'.repeat(40_000)}"}`;

describe(readAnswer.name, () => {
  it.each([
    '{"jsonrpc":"2.0","id":1234,"result":{"a":1.0}}',
    '{"result":{"a":1.0},"jsonrpc":"2.0","id":1234}',
    '{"id":1234,"jsonrpc":"2.0","result":{"a":1.0}}',
    ' {\n "jsonrpc" : "2.0", "result" : {"a":1.0}, "id" : 1234 }\n',
    '{"jsonrpc":"2.0","id":1234,"result":{"a":1.0},"more":true}',
  ])('takes the result out of %j as it is written', (text) => {
    expect(read(text)).toEqual({ id: 1_234, result: '{"a":1.0}' });
  });

  it('takes an id that is a string', () => {
    expect(read('{"jsonrpc":"2.0","id":"a","result":{}}')).toEqual({ id: 'a', result: '{}' });
  });

  it('takes a large result without reading it', () => {
    expect(read(`{"jsonrpc":"2.0","id":7,"result":${big}}`)).toEqual({ id: 7, result: big });
    expect(read(`{"result":${big},"jsonrpc":"2.0","id":7}`)).toEqual({ id: 7, result: big });
  });

  it.each([
    ['a second id behind the result', '{"jsonrpc":"2.0","id":1,"result":{},"id":2}'],
    ['a second result', '{"result":{},"result":{"b":1},"jsonrpc":"2.0","id":1}'],
    ['a key twice in the result', '{"jsonrpc":"2.0","id":1,"result":{"a":1,"\\u0061":2}}'],
    ['two messages in one', `{"jsonrpc":"2.0","id":1,"result":${big}},{"x":{}}`],
    ['no JSON in the result', '{"jsonrpc":"2.0","id":1,"result":{"a":nonsense}}'],
    ['a result that is no object', '{"jsonrpc":"2.0","id":1,"result":[1]}'],
    ['an error', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}'],
    ['a request', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"result":{}}]'],
    ['no id', '{"jsonrpc":"2.0","result":{}}'],
    ['half an answer', '{"jsonrpc":"2.0","id":1,"result":{"a":'],
    ['nothing', ''],
  ])('leaves %s to those who read everything', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });
});
