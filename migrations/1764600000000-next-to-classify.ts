import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * In the order in which tools are taken: an index on `due_at` alone is not in it, so that every batch sorted all tools
 * that were due, and the first classification of 100,000 tools took as long as their number squared.
 */
export class NextToClassify1764600000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX idx_tool_classifications_next
      ON mcp.tool_classifications ((classified_by IS NOT NULL), due_at, tool_id)
      WHERE due_at IS NOT NULL`);
    await runner.query('DROP INDEX mcp.idx_tool_classifications_due');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX idx_tool_classifications_due ON mcp.tool_classifications (due_at)
      WHERE due_at IS NOT NULL`);
    await runner.query('DROP INDEX mcp.idx_tool_classifications_next');
  }
}
