import { RequestTimedOut } from './upstream.errors.js';

describe(RequestTimedOut.name, () => {
  it('rounds the time, as the rest of a deadline is a fraction', () => {
    expect(new RequestTimedOut('tools/call', 29_999.997_696).message).toBe(
      'The server did not answer tools/call within 30 s',
    );
  });
});
