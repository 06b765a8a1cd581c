import { MAX_ATTEMPTS, newWebhookSecret, signedHeaders, waitAfterMs } from './webhook.js';

describe('webhooks', () => {
  it('are signed as the example of the Standard Webhooks libraries', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const body = '{"test": 2432232314}';
    const headers = signedHeaders(
      secret,
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      new Date(1_614_265_330_000),
      body,
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('have a new secret each', () => {
    expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newWebhookSecret()).not.toBe(newWebhookSecret());
  });

  it('are sent again after a quarter of a second first, and after an hour at most, for half a day', () => {
    expect([1, 2, 3, 100].map(waitAfterMs)).toEqual([250, 500, 1_000, 3_600_000]);
    let total = 0;
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) total += waitAfterMs(attempt);
    expect(total / 3_600_000).toBeGreaterThan(9);
    expect(total / 3_600_000).toBeLessThan(14);
  });
});
