import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { TokensWithdrawn } from '@app/events';
import { ForgetPeopleJob } from './forget-people.job.js';

/** Credentials of a token do not outlive it. */
@EventsHandler(TokensWithdrawn)
export class ForgetPeopleOnTokensWithdrawn implements IEventHandler<TokensWithdrawn> {
  constructor(private readonly job: ForgetPeopleJob) {}

  handle(): Promise<void> {
    return this.job.run();
  }
}
