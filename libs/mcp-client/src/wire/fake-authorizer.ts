import type { Authorizer, Refusal } from './authorizer.js';

/** Has new credentials for the first refusals, as many as `renewals`. */
export class FakeAuthorizer implements Authorizer {
  header: string | undefined = 'Bearer 1';
  readonly refusals: Refusal[] = [];
  renewals = 1;
  waiting: Promise<void> | undefined;

  ready(): Promise<void> | undefined {
    return this.waiting;
  }

  renew(refusal: Refusal): Promise<boolean> {
    if (refusal.status !== 401 && refusal.status !== 403) return Promise.resolve(false);
    this.refusals.push(refusal);
    if (this.refusals.length > this.renewals) return Promise.resolve(false);
    this.header = `Bearer ${this.refusals.length + 1}`;
    return Promise.resolve(true);
  }
}
