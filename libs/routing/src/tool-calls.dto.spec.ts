import { RawJsonObject } from '@app/platform';
import { catalogueOf, type PicturedServer } from '../../../test/support/catalogue.js';
import { resolveRoute } from './route.js';
import { readToolCall, toToolAnswerView } from './tool-calls.dto.js';

describe(toToolAnswerView.name, () => {
  const answerOf = (status: NonNullable<PicturedServer['status']>) => {
    const catalogue = catalogueOf([{ name: 'github', status, tools: ['create'] }]);
    return toToolAnswerView({
      route: resolveRoute(catalogue, 'github.create'),
      result: RawJsonObject.of({ content: [] }),
      routingMs: 0.25,
      executionMs: 2,
      totalMs: 2.5,
    }).toObject();
  };

  it('warns when the server that answered is degraded', () => {
    expect(answerOf('DEGRADED')).toMatchObject({
      metadata: { warning: 'Server github is degraded: its health checks fail' },
    });
  });

  it('adds no warning when the server is healthy', () => {
    expect(answerOf('CONNECTED')['metadata']).not.toHaveProperty('warning');
  });
});

describe(readToolCall.name, () => {
  it('takes the search that found the tool, and null for none', () => {
    expect(readToolCall({ name: 'a', search_id: 'q3ZkT0b1xYcA' })).toEqual({
      name: 'a',
      search_id: 'q3ZkT0b1xYcA',
    });
    expect(readToolCall({ name: 'a', search_id: null })).toEqual({ name: 'a' });
    expect(() => readToolCall({ name: 'a', search_id: 1 })).toThrow();
  });
});
