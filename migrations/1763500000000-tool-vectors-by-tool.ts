import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Nearly all vectors are of one model. Where a database has no statistics, as the embedded one, the index on it was
 * taken for every batch, and each batch read the whole table: a start with 100,000 tools read it 200 times.
 */
export class ToolVectorsByTool1763500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX mcp.idx_tool_vectors_model`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX idx_tool_vectors_model ON mcp.tool_vectors (model_id)`);
  }
}
