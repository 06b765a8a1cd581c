import { DatabaseUnavailable } from './database.errors.js';
import { OutageLog } from './outage-log.js';

describe(OutageLog.name, () => {
  it('names each handler at once, and repeats it with a count', () => {
    let time = 0;
    const lines: object[] = [];
    const log = new OutageLog({ warn: (line: object) => void lines.push(line) }, () => time);
    const cause = Object.assign(new Error('connect refused'), {
      code: 'ECONNREFUSED',
      query: 'SELECT a secret',
      parameters: ['a secret'],
    });
    const error = new DatabaseUnavailable('unreachable', cause);
    for (let i = 0; i < 1_000; i++) log.note('GET /servers', error);
    log.note('GET /audit', error);
    time += 10_000;
    log.note('GET /servers', error);
    const err = { message: 'connect refused', code: 'ECONNREFUSED' };
    expect(lines).toEqual([
      { handler: 'GET /servers', reason: 'unreachable', err },
      { handler: 'GET /audit', reason: 'unreachable', err },
      { handler: 'GET /servers', reason: 'unreachable', repeated: 999, err },
    ]);
  });
});
