import { Inject, Injectable } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import { egressPolicy, Env, urlProblem } from '@app/platform';
import { WebhookServerUnknown, WebhookUrlRefused } from '../webhooks.errors.js';

/** What is refused when a webhook is saved; a host name is judged again at each connection. */
@Injectable()
export class WebhookRules {
  constructor(
    private readonly catalogue: Catalogue,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** Throws WebhookUrlRefused. */
  checkUrl(url: string): void {
    const problem =
      urlProblem(url, {
        allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
        egress: egressPolicy(this.env),
      }) ?? userProblem(url);
    if (problem !== undefined) throw new WebhookUrlRefused(problem);
  }

  /** Ids of servers that are named or given by id. Throws WebhookServerUnknown. */
  serverIds(given: readonly string[]): readonly string[] {
    const { servers, serversByName } = this.catalogue.current;
    return given.map((one) => {
      const server = serversByName.get(one) ?? servers.get(one);
      if (!server) throw new WebhookServerUnknown(one);
      return server.id;
    });
  }
}

/** They would not be sent. */
function userProblem(url: string): string | undefined {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return undefined;
  return 'Must have no user and password: the receiver verifies the signature of each event instead';
}
