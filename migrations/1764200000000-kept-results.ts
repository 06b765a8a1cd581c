import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whole results of calls whose answers were shortened, for their owners until they expire. A page is a row, so that a
 * request reads and decrypts one. Encrypted bytes are not compressible, and are stored outside of the row.
 */
export class KeptResults1764200000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.kept_results (
        id uuid PRIMARY KEY,
        owner varchar(255) NOT NULL,
        bytes bigint NOT NULL,
        pages integer NOT NULL,
        kept_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX kept_results_by_owner ON mcp.kept_results (owner, kept_at)');
    await runner.query('CREATE INDEX kept_results_by_expiry ON mcp.kept_results (expires_at)');
    await runner.query(`
      CREATE TABLE mcp.kept_result_pages (
        result_id uuid NOT NULL REFERENCES mcp.kept_results (id) ON DELETE CASCADE,
        page integer NOT NULL,
        sealed jsonb NOT NULL,
        PRIMARY KEY (result_id, page)
      )`);
    await runner.query(
      'ALTER TABLE mcp.kept_result_pages ALTER COLUMN sealed SET STORAGE EXTERNAL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.kept_result_pages');
    await runner.query('DROP TABLE mcp.kept_results');
  }
}
