import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Vectors of tools by embedding model: little-endian 32-bit floats of length 1, of the text with that hash. */
export class ToolVectors1763470000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.tool_vectors (
        tool_id integer NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
        model_id varchar(255) NOT NULL,
        text_hash varchar(64) NOT NULL,
        vector bytea NOT NULL,
        PRIMARY KEY (tool_id, model_id)
      )`);
    await runner.query(`CREATE INDEX idx_tool_vectors_model ON mcp.tool_vectors (model_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.tool_vectors`);
  }
}
