import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A token endpoint that gives a token of its own for each JWT (RFC 8693). */
export class TokenExchange {
  readonly forms: URLSearchParams[] = [];
  readonly clients: (string | undefined)[] = [];
  lifetime = 3_600;
  /** Instead of a token. */
  refusal: { readonly error: string; readonly error_description?: string } | undefined;
  givesBackTheSame = false;
  private readonly server: Server = createServer((request, response) => {
    void this.answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });

  static async start(): Promise<TokenExchange> {
    const exchange = new TokenExchange();
    exchange.server.listen(0, '127.0.0.1');
    await once(exchange.server, 'listening');
    return exchange;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  /** Of the subject, for the n-th exchange. */
  static tokenOf(subject: string, n: number): string {
    return `upstream-token-of-${subject}-${n}-d83jf74`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    this.forms.push(form);
    this.clients.push(request.headers.authorization);
    if (this.refusal) return { status: 400, body: this.refusal };
    const subjectToken = form.get('subject_token') ?? '';
    const [, payload = ''] = subjectToken.split('.');
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string };
    const own = TokenExchange.tokenOf(sub, this.forms.length);
    return {
      status: 200,
      body: {
        access_token: this.givesBackTheSame ? subjectToken : own,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: this.lifetime,
      },
    };
  }
}
