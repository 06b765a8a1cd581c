import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@app/mcp-protocol';
import { envelopeFor, envelopeOf, withoutEnvelope } from './envelope.js';

const meta = {
  [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
  [CLIENT_INFO_META_KEY]: { name: 'x', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: { elicitation: {} },
  [LOG_LEVEL_META_KEY]: 'warning',
};

describe('what a client says of itself in a request', () => {
  it('is read from its _meta', () => {
    expect(envelopeOf({ _meta: meta })).toEqual({
      info: { name: 'x', version: '1' },
      capabilities: { elicitation: {} },
      logLevel: 'warning',
    });
  });

  it.each([
    {},
    { _meta: 'x' },
    { _meta: { [CLIENT_CAPABILITIES_META_KEY]: 'x', [LOG_LEVEL_META_KEY]: 'loud' } },
  ])('is nothing in %j', (params) => {
    expect(envelopeOf(params)).toEqual({ capabilities: {}, logLevel: undefined });
  });

  it('continues to a server of this revision', () => {
    expect(envelopeFor({ capabilities: { roots: {} }, logLevel: 'error' })).toEqual({
      [CLIENT_CAPABILITIES_META_KEY]: { roots: {} },
      [LOG_LEVEL_META_KEY]: 'error',
    });
    const silent = envelopeFor({ capabilities: {}, logLevel: undefined });
    expect(silent).toEqual({ [CLIENT_CAPABILITIES_META_KEY]: {} });
    expect(silent).not.toHaveProperty([LOG_LEVEL_META_KEY]);
  });

  it('is taken out of the params, and nothing else is', () => {
    expect(withoutEnvelope({ name: 'a', _meta: { ...meta, own: 1 } })).toEqual({
      name: 'a',
      _meta: { own: 1 },
    });
    expect(withoutEnvelope({ name: 'a', _meta: meta })).toEqual({ name: 'a' });
    for (const params of [{ name: 'a' }, { name: 'a', _meta: 'x' }]) {
      expect(withoutEnvelope(params)).toEqual({ name: 'a' });
    }
  });
});
