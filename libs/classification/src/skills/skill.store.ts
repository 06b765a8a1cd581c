import { Injectable } from '@nestjs/common';
import { Database, isUniqueViolation, type Tx } from '@app/platform';
import { SkillAlreadyExists, SkillNotFound } from '../classification.errors.js';
import type { Skill } from './skill.js';

export interface CountedSkill extends Skill {
  readonly toolCount: number;
}

export interface SkillPage {
  readonly limit: number;
  readonly offset: number;
}

const COLUMNS = `s.id, s.name, s.description, s.prototypes, s.is_active AS "isActive"`;

/** Rows of the taxonomy. */
@Injectable()
export class SkillStore {
  constructor(private readonly database: Database) {}

  async list(
    includeInactive: boolean,
    page: SkillPage,
  ): Promise<{ skills: CountedSkill[]; total: number }> {
    const [skills, counted] = await Promise.all([
      this.database.direct.query<CountedSkill[]>(
        `SELECT ${COLUMNS},
                (SELECT count(*)::int FROM mcp.tool_skill_assignments a WHERE a.skill_id = s.id) AS "toolCount"
         FROM mcp.skill_categories s WHERE $1 OR s.is_active
         ORDER BY s.name, s.id LIMIT $2 OFFSET $3`,
        [includeInactive, page.limit, page.offset],
      ),
      this.database.direct.query<{ total: number }[]>(
        'SELECT count(*)::int AS total FROM mcp.skill_categories WHERE $1 OR is_active',
        [includeInactive],
      ),
    ]);
    return { skills, total: counted[0]?.total ?? 0 };
  }

  /** In a stable order. */
  active(tx: Tx = this.database.direct): Promise<Skill[]> {
    return tx.query(
      `SELECT ${COLUMNS} FROM mcp.skill_categories s WHERE s.is_active ORDER BY s.id`,
    );
  }

  async get(id: string, tx: Tx = this.database.direct): Promise<CountedSkill> {
    const rows = await tx.query<CountedSkill[]>(
      `SELECT ${COLUMNS},
              (SELECT count(*)::int FROM mcp.tool_skill_assignments a WHERE a.skill_id = s.id) AS "toolCount"
       FROM mcp.skill_categories s WHERE s.id = $1`,
      [id],
    );
    if (!rows[0]) throw new SkillNotFound(id);
    return rows[0];
  }

  async insert(skill: Skill, tx: Tx): Promise<void> {
    await this.write(
      skill.name,
      tx,
      `INSERT INTO mcp.skill_categories (id, name, description, prototypes, is_active)
       VALUES ($1, $2, $3, $4, $5)`,
      [skill.id, skill.name, skill.description, skill.prototypes, skill.isActive],
    );
  }

  async update(skill: Skill, tx: Tx): Promise<void> {
    await this.write(
      skill.name,
      tx,
      `UPDATE mcp.skill_categories
       SET name = $2, description = $3, prototypes = $4, is_active = $5, updated_at = now()
       WHERE id = $1`,
      [skill.id, skill.name, skill.description, skill.prototypes, skill.isActive],
    );
  }

  private async write(name: string, tx: Tx, sql: string, values: unknown[]): Promise<void> {
    try {
      await tx.query(sql, values);
    } catch (error) {
      throw isUniqueViolation(error) ? new SkillAlreadyExists(name) : error;
    }
  }
}
