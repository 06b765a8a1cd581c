import { exportJWK, generateKeyPair, type GenerateKeyPairResult, type JWK, SignJWT } from 'jose';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An identity provider with configurable keys and outages. */
export class TestIssuer {
  readonly audience = 'switchboard';
  readonly keys: JWK[] = [];
  isDown = false;
  /** Inserted before the keys. */
  padding = '';
  fetches = 0;
  private readonly pairs = new Map<string, GenerateKeyPairResult>();
  private readonly server: Server = createServer((_request, response) => {
    this.fetches++;
    response.statusCode = this.isDown ? 500 : 200;
    response.end(this.padding + JSON.stringify({ keys: this.keys }));
  });

  private constructor(readonly name: string) {}

  static async start(name = 'https://id.example.com'): Promise<TestIssuer> {
    const issuer = new TestIssuer(name);
    await issuer.addKey('first');
    await new Promise<void>((resolve) => issuer.server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  /** Settings of a service that trusts it. */
  get settings(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      MCP_AGGREGATOR_JWKS_URL: `http://127.0.0.1:${port}/keys`,
      MCP_AGGREGATOR_JWT_ISSUER: this.name,
      MCP_AGGREGATOR_JWT_AUDIENCE: this.audience,
    };
  }

  async addKey(kid: string, alg = 'ES256'): Promise<void> {
    const pair = await generateKeyPair(alg);
    this.pairs.set(kid, pair);
    this.keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg });
  }

  /** A token with a lifetime of ten minutes, unless the claims say otherwise. */
  async sign(
    claims: Record<string, unknown> = {},
    key: { kid: string; pair?: GenerateKeyPairResult } = { kid: 'first' },
  ): Promise<string> {
    const pair = key.pair ?? this.pairs.get(key.kid);
    if (!pair) throw new Error(`no key ${key.kid}`);
    return new SignJWT({
      sub: 'user@example.com',
      iss: this.name,
      aud: this.audience,
      exp: Math.floor(Date.now() / 1_000) + 600,
      scope: 'read call',
      ...claims,
    })
      .setProtectedHeader({
        alg: this.keys.find(({ kid }) => kid === key.kid)?.alg ?? 'ES256',
        kid: key.kid,
      })
      .sign(pair.privateKey);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
