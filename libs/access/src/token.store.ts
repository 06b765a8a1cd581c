import { Injectable } from '@nestjs/common';
import { type ConfiguredToken, Database } from '@app/platform';

/** The tokens that are good now, as rows (`mcp.api_tokens`): names, scopes and hashes. */
@Injectable()
export class TokenStore {
  constructor(private readonly database: Database) {}

  /** Makes the rows say exactly this, and nothing else. */
  async replaceAll(tokens: readonly ConfiguredToken[]): Promise<void> {
    await this.database.transaction(async (tx) => {
      // Replicas start together with the same tokens: one after the other.
      await tx.query('LOCK TABLE mcp.api_tokens IN EXCLUSIVE MODE');
      // First what is gone, a hash that moved to another name included, so that it is free to insert.
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
    });
  }
}
