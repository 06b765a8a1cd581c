import { rpcCode } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import { requireCapability } from './client-capabilities.js';

describe(requireCapability, () => {
  it.each([
    ['sampling/createMessage', 'sampling'],
    ['elicitation/create', 'elicitation'],
    ['roots/list', 'roots'],
  ])('wants for %s a client that declared %s', (method, name) => {
    expect(() => requireCapability({ [name]: {} }, method, {})).not.toThrow();
    for (const capabilities of [{}, { [name]: true }, { other: {} }]) {
      expect(() => requireCapability(capabilities, method, {})).toThrow(
        expect.objectContaining({
          message: `The client does not support ${name}`,
          body: expect.objectContaining({ code: rpcCode.methodNotFound }),
        }),
      );
    }
  });

  it('wants nothing for other requests', () => {
    expect(() => requireCapability({}, 'ping', {})).not.toThrow();
  });

  it.each<[JsonObject, JsonObject]>([
    [{}, {}],
    [{}, { mode: 'form' }],
    [{ form: {} }, {}],
    [{ form: {}, url: {} }, { mode: 'url' }],
    [{ url: {} }, { mode: 'url' }],
  ])('takes clients with %j for elicitation with %j', (elicitation, params) => {
    expect(() => requireCapability({ elicitation }, 'elicitation/create', params)).not.toThrow();
  });

  it.each<[JsonObject, JsonObject, string]>([
    [{}, { mode: 'url' }, '"url"'],
    [{ url: {} }, {}, '"form"'],
    [{ form: {}, url: true }, { mode: 'url' }, '"url"'],
    [{ form: {} }, { mode: 7 }, '7'],
    [{ '7': {} }, { mode: 7 }, '7'],
  ])('does not take clients with %j for elicitation with %j', (elicitation, params, mode) => {
    expect(() => requireCapability({ elicitation }, 'elicitation/create', params)).toThrow(
      expect.objectContaining({
        message: `The client does not support elicitation by ${mode}`,
        body: expect.objectContaining({ code: rpcCode.invalidParams }),
      }),
    );
  });

  it('asks for the mode of elicitation alone', () => {
    expect(() =>
      requireCapability({ sampling: {} }, 'sampling/createMessage', { mode: 'x' }),
    ).not.toThrow();
  });
});
