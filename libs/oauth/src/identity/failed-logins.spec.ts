import { RateLimited } from '@app/access';
import { FailedLogins } from './failed-logins.js';

describe(FailedLogins.name, () => {
  it('refuses a network sixty failures in a minute, and no other network', () => {
    const failed = new FailedLogins();
    for (let login = 0; login < 60; login++) {
      failed.refuseMore('192.0.2.1', login);
      failed.note('192.0.2.1', login);
    }
    expect(() => failed.refuseMore('192.0.2.1', 59_999)).toThrow(RateLimited);
    expect(() => failed.refuseMore('192.0.2.2', 59_999)).not.toThrow();
    expect(() => failed.refuseMore('192.0.2.1', 60_000)).not.toThrow();
  });
});
