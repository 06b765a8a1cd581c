import { Injectable } from '@nestjs/common';
import { type ConfiguredToken, Database } from '@app/platform';

/** The rows of `mcp.api_tokens`: names, scopes and hashes of the configured tokens. */
@Injectable()
export class TokenStore {
  constructor(private readonly database: Database) {}

  /** Makes the rows equal to these tokens. Returns their accounts by name: one is new when its secret is. */
  async replaceAll(tokens: readonly ConfiguredToken[]): Promise<ReadonlyMap<string, string>> {
    return this.database.background.transaction(async (tx) => {
      // Replicas that start at the same time write one after the other.
      await tx.query('LOCK TABLE mcp.api_tokens IN EXCLUSIVE MODE');
      // Deletes first, so that a hash that moved to another name can be inserted.
      await tx.query(
        `DELETE FROM mcp.api_tokens
         WHERE (name, token_hash) NOT IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
        [tokens.map((token) => token.name), tokens.map((token) => token.hash)],
      );
      for (const token of tokens) {
        await tx.query(
          `INSERT INTO mcp.api_tokens (name, token_hash, scopes) VALUES ($1, $2, $3)
           ON CONFLICT (name) DO UPDATE SET scopes = EXCLUDED.scopes`,
          [token.name, token.hash, token.scopes],
        );
      }
      const rows = await tx.query<{ name: string; account: string }[]>(
        'SELECT name, account FROM mcp.api_tokens',
      );
      return new Map(rows.map(({ name, account }) => [name, account]));
    });
  }
}
