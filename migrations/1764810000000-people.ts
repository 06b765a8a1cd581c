import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Accounts of people who log in at an identity provider. */
export class People1764810000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.people (
        id uuid PRIMARY KEY,
        issuer varchar(500) NOT NULL,
        subject varchar(255) NOT NULL,
        label varchar(200) NOT NULL,
        scopes text[] NOT NULL,
        groups text[] NOT NULL,
        session_hash varchar(64) NOT NULL UNIQUE,
        rules_hash varchar(64) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_login_at timestamptz NOT NULL DEFAULT now(),
        ends_at timestamptz NOT NULL,
        UNIQUE (issuer, subject)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.people');
  }
}
