import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PeerQuestions } from '@app/activity';
import { DeliverySender } from './delivery-sender.js';

const QUESTION = 'forget-webhook';

/** The senders of every replica, of which the one that leads sends. */
@Injectable()
export class SendersOfAll implements OnModuleInit {
  constructor(
    private readonly peers: PeerQuestions,
    private readonly sender: DeliverySender,
  ) {}

  onModuleInit(): void {
    this.peers.answerWith(QUESTION, ({ id }) => {
      if (typeof id === 'string') this.sender.forget(id);
      return true;
    });
  }

  /**
   * Resolves when the replicas that answer have cut off what they were sending to it; the others do so when they read the
   * webhooks again.
   */
  async forget(webhookId: string): Promise<void> {
    this.sender.forget(webhookId);
    await this.peers.ask(QUESTION, { id: webhookId });
  }
}
