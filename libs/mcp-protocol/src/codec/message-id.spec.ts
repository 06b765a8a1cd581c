import { isJsonObject, parseKept, RawJson, writeJson } from '@app/platform';
import { idIn, idJson, idText, type RpcId } from './message-id.js';

function idOf(text: string): RpcId | undefined {
  const message = parseKept(Buffer.from(text), 1);
  return isJsonObject(message) ? idIn(message, 'id') : undefined;
}

describe('an id', () => {
  it.each([
    ['{"id":7}', 7],
    ['{"id":0}', 0],
    ['{"id":"7"}', '7'],
    ['{"id":""}', ''],
    ['{"id":9007199254740993}', 9_007_199_254_740_993n],
    ['{"id":-9007199254740993}', -9_007_199_254_740_993n],
    ['{"id":1.5}', 1.5],
    ['{"id":9007199254740993.5}', 9_007_199_254_740_994],
    ['{"id":1e400}', undefined],
    ['{"id":null}', undefined],
    ['{"id":true}', undefined],
    ['{"id":[1]}', undefined],
    ['{}', undefined],
  ])('of %s is %p', (text, id) => {
    expect(idOf(text)).toBe(id);
  });

  it.each<[RpcId | null, string]>([
    [7, '7'],
    ['7', '"7"'],
    [9_007_199_254_740_993n, '9007199254740993'],
    [null, 'null'],
  ])('%p is written as %s', (id, text) => {
    expect(idText(id)).toBe(text);
    if (id === null) return;
    const json = idJson(id);
    expect(json instanceof RawJson ? json.text : writeJson(json)).toBe(text);
  });
});
