import { RawJsonObject } from '@app/platform';
import { catalogueOf, type PicturedServer } from '../../../test/support/catalogue.js';
import { resolveRoute } from './route.js';
import { toToolAnswerView } from './tool-calls.dto.js';

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
