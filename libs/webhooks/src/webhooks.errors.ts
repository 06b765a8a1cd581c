import { AppError, InvalidInput } from '@app/platform';

export class WebhookNotFound extends AppError {
  constructor(id: string) {
    super(`There is no webhook with the id ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'WEBHOOK_NOT_FOUND',
    });
  }
}

export class TooManyWebhooks extends AppError {
  constructor(limit: number) {
    super(`There are ${limit} webhooks, which is the limit; remove one that is not used`, {
      kind: 'conflict',
      code: 'WEBHOOK_LIMIT_REACHED',
      context: { limit },
    });
  }
}

export class WebhookUrlRefused extends InvalidInput {
  constructor(problem: string) {
    super([{ loc: ['body', 'url'], msg: problem, type: 'value_error' }]);
  }
}

export class WebhookServerUnknown extends InvalidInput {
  constructor(server: string) {
    const msg = `There is no server ${server.slice(0, 100)}`;
    super([{ loc: ['body', 'servers'], msg, type: 'value_error' }]);
  }
}
