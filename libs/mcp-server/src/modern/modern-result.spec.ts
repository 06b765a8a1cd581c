import { rpcCode, type RpcResult, SERVER_INFO_META_KEY } from '@app/mcp-protocol';
import { type JsonObject, RawJsonObject } from '@app/platform';
import { isModernMethod, modernError, modernResult } from './modern-result.js';

const info = { name: 'switchboard', version: '1' };
const named = { [SERVER_INFO_META_KEY]: info };

function textOf(result: RpcResult): string {
  return result instanceof RawJsonObject ? result.bytes.toString() : JSON.stringify(result);
}

describe.each(['parsed', 'forwarded'] as const)('a %s result in the newest revision', (how) => {
  function modern(method: string, result: JsonObject): JsonObject {
    const given = how === 'parsed' ? result : RawJsonObject.of(result);
    const answer = modernResult(method, given, info);
    return answer instanceof RawJsonObject ? answer.toObject() : answer;
  }

  it('says that it is complete, and of whom it is', () => {
    expect(modern('tools/call', { content: [] })).toEqual({
      resultType: 'complete',
      content: [],
      _meta: named,
    });
  });

  it.each([
    'server/discover',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
  ])('of %s says how long it may be cached', (method) => {
    expect(modern(method, { a: 1 })).toEqual({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      a: 1,
      _meta: named,
    });
  });

  it('keeps what the server says itself', () => {
    const own = {
      resultType: 'complete',
      ttlMs: 5_000,
      cacheScope: 'public',
      _meta: { [SERVER_INFO_META_KEY]: { name: 'other', version: '2' }, own: 1 },
    };
    expect(modern('resources/read', own)).toEqual(own);
  });

  it('that asks for input is not complete, and is not cached', () => {
    const asking = { resultType: 'input_required', inputRequests: {} };
    expect(modern('resources/read', asking)).toEqual({ ...asking, _meta: named });
  });

  it('lists tools without the task support of earlier revisions', () => {
    const tools = [{ name: 'a', execution: { taskSupport: 'optional' } }, { name: 'b' }, 'odd'];
    expect(modern('tools/list', { tools })).toMatchObject({
      tools: [{ name: 'a' }, { name: 'b' }, 'odd'],
    });
    expect(JSON.stringify(modern('tools/list', { tools }))).not.toContain('execution');
    expect(modern('prompts/list', { prompts: tools })).toMatchObject({ prompts: tools });
  });

  it('keeps the text of numbers in lists', () => {
    const prompts = RawJsonObject.read(Buffer.from('{"prompts":[{"execution":1.0}]}'));
    const tools = RawJsonObject.read(Buffer.from('{"tools":[{"a":1.0}]}'));
    expect(prompts && textOf(modernResult('prompts/list', prompts, info))).toContain(':1.0');
    expect(tools && textOf(modernResult('tools/list', tools, info))).toContain(':1.0');
  });

  it('of tools that are no list is passed on', () => {
    expect(modern('tools/list', { tools: 'execution' })).toMatchObject({ tools: 'execution' });
  });
});

describe('the newest revision', () => {
  it.each(['server/discover', 'subscriptions/listen', 'tools/call', 'completion/complete'])(
    'has the method %s',
    (method) => expect(isModernMethod(method)).toBe(true),
  );

  it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', ''])(
    'does not have the method %j',
    (method) => expect(isModernMethod(method)).toBe(false),
  );

  it('reports an unknown resource as invalid params, and other errors as they are', () => {
    const error = { code: rpcCode.resourceNotFound, message: 'no', data: { uri: 'a:' } };
    expect(modernError(error)).toEqual({ ...error, code: rpcCode.invalidParams });
    expect(modernError({ code: 7, message: 'no' })).toEqual({ code: 7, message: 'no' });
  });
});
