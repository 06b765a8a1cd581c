import { requestMessage } from './request-message.js';

const asked = { id: 7, method: 'tools/call', params: { name: 'x' } };
const modern = { envelope: () => ({ version: '1', level: 'info' }) };

describe(requestMessage.name, () => {
  it('leaves the params as they are when there is nothing to add', () => {
    const message = requestMessage(asked, {}, undefined);
    expect(message).toEqual({ jsonrpc: '2.0', ...asked });
    expect(message.params).toBe(asked.params);
  });

  it('replaces the token of a client by its own, or drops it', () => {
    const params = { name: 'x', _meta: { a: 1, progressToken: 3 } };
    expect(requestMessage({ ...asked, params }, {}, undefined).params).toEqual({
      name: 'x',
      _meta: { a: 1 },
    });
    const onProgress = (): void => undefined;
    expect(requestMessage({ ...asked, params }, { onProgress }, undefined)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'x', _meta: { a: 1, progressToken: 7 } },
    });
  });

  it('adds the meta of the request, which overrides that of the client', () => {
    const params = { name: 'x', _meta: { a: 1, b: 1 } };
    const { params: sent } = requestMessage({ ...asked, params }, { meta: { b: 2 } }, undefined);
    expect(sent).toEqual({ name: 'x', _meta: { a: 1, b: 2 } });
    const without = requestMessage({ ...asked, params: undefined }, { meta: { b: 2 } }, undefined);
    expect(without.params).toEqual({ _meta: { b: 2 } });
  });

  it('adds what a modern server needs where the client did not send it', () => {
    const params = { _meta: { level: 'debug' } };
    expect(requestMessage({ ...asked, params }, {}, modern).params).toEqual({
      _meta: { level: 'debug', version: '1' },
    });
    expect(requestMessage({ ...asked, params: { _meta: 7 } }, {}, modern).params).toEqual({
      _meta: { version: '1', level: 'info' },
    });
  });
});
