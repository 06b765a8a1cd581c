import { detailsText } from './details-text.js';
import { newest } from './events.js';

describe(newest.name, () => {
  it('merges histories by time, newest first, up to a limit', () => {
    const event = (server: string, timestamp: string) => ({
      server,
      timestamp,
      event_type: 'CONNECTED',
      details: {},
    });
    const events = [
      event('a', '2026-01-01T00:00:03.000Z'),
      event('a', '2026-01-01T00:00:01.000Z'),
      event('b', '2026-01-01T00:00:02.000Z'),
    ];
    expect(newest(events, 2).map(({ server }) => server)).toEqual(['a', 'b']);
  });
});

describe(detailsText.name, () => {
  it('leaves out what is null and writes text without quotes', () => {
    expect(detailsText({ from: 'ERROR', reason: null, fields: ['a'], n: 1 })).toBe(
      'from=ERROR fields=["a"] n=1',
    );
  });
});
