import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The processes on this database, and where they reach each other. `url` is unknown until a process listens. */
export class Replicas1763720000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.replicas (
        id uuid PRIMARY KEY,
        url text,
        protocol integer NOT NULL,
        version text NOT NULL,
        seen_at timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.replicas');
  }
}
