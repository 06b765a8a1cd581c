import { Injectable } from '@nestjs/common';
import { ToolStore } from '@app/catalogue';
import { Database, type Tx } from '@app/platform';
import type { Assignment } from '../skills/skill.js';

export interface ToolAssignments {
  readonly toolId: number;
  /** Primary skill first. Empty: the tool counts as unclassified. */
  readonly assignments: readonly Assignment[];
  /** The content that was classified. Without it the skills are of the tool whatever its content. */
  readonly contentHash?: string;
}

export interface AssignedSkills {
  /** Primary skill first. */
  readonly skills: readonly Assignment[];
  /** Likely skills of a tool without any, with a confidence too low to assign them. */
  readonly unsure: readonly Assignment[];
  readonly classifiedBy: string | null;
  readonly isOverride: boolean;
}

/** One skill of a tool. */
export interface ToolAssignment extends Assignment {
  readonly toolId: number;
}

export interface SkillMemberRow {
  readonly toolId: number;
  readonly confidence: number;
  readonly isPrimary: boolean;
}

/** Which tools have which skills. `mcp.tools.skill_ids` repeats it for readers. */
@Injectable()
export class AssignmentStore {
  constructor(
    private readonly database: Database,
    private readonly tools: ToolStore,
  ) {}

  /** The tools that have a skill. */
  async membersOf(skillId: string): Promise<readonly SkillMemberRow[]> {
    return this.database.direct.query<SkillMemberRow[]>(
      `SELECT tool_id AS "toolId", confidence, is_primary AS "isPrimary"
       FROM mcp.tool_skill_assignments WHERE skill_id = $1`,
      [skillId],
    );
  }

  /** What is known of a tool's skills; nothing until it was classified. */
  async ofTool(toolId: number): Promise<AssignedSkills> {
    const [skills, [state]] = await Promise.all([
      this.database.direct.query<Assignment[]>(
        `SELECT skill_id AS "skillId", confidence FROM mcp.tool_skill_assignments
         WHERE tool_id = $1 ORDER BY is_primary DESC, confidence DESC, skill_id`,
        [toolId],
      ),
      this.database.direct.query<Omit<AssignedSkills, 'skills'>[]>(
        `SELECT unsure, classified_by AS "classifiedBy", is_override AS "isOverride"
         FROM mcp.tool_classifications WHERE tool_id = $1`,
        [toolId],
      ),
    ]);
    const { unsure = [], classifiedBy = null, isOverride = false } = state ?? {};
    return { skills, unsure, classifiedBy, isOverride };
  }

  /** The assignments of these tools, or of all. */
  of(toolIds?: readonly number[]): Promise<ToolAssignment[]> {
    return this.database.background.direct.query(
      `SELECT tool_id AS "toolId", skill_id AS "skillId", confidence
       FROM mcp.tool_skill_assignments WHERE $1::int[] IS NULL OR tool_id = ANY($1::int[])
       ORDER BY tool_id, confidence DESC, skill_id`,
      [toolIds ?? null],
    );
  }

  /** Skips tools that were removed or have another content; returns the ids of the others. */
  async replace(
    given: readonly ToolAssignments[],
    classifiedBy: string,
    tx: Tx,
  ): Promise<ReadonlySet<number>> {
    const skills = given.map(({ toolId, assignments, contentHash }) => ({
      toolId,
      skillIds: orderedSkills(assignments),
      contentHash,
    }));
    const written = new Set(await this.tools.setSkills(skills, classifiedBy, tx));
    const tools = given.filter(({ toolId }) => written.has(toolId));
    const rows = tools.flatMap(({ toolId, assignments }) =>
      assignments.map(({ skillId, confidence }, rank) => ({
        toolId,
        skillId,
        confidence,
        isPrimary: rank === 0,
      })),
    );
    await tx.query('DELETE FROM mcp.tool_skill_assignments WHERE tool_id = ANY($1::int[])', [
      tools.map(({ toolId }) => toolId),
    ]);
    await tx.query(
      `INSERT INTO mcp.tool_skill_assignments (tool_id, skill_id, confidence, is_primary)
       SELECT * FROM unnest($1::int[], $2::text[], $3::real[], $4::boolean[])`,
      [
        rows.map((row) => row.toolId),
        rows.map((row) => row.skillId),
        rows.map((row) => row.confidence),
        rows.map((row) => row.isPrimary),
      ],
    );
    return written;
  }

  /** Removes a skill that was switched off from all tools, including overridden ones; returns their ids. */
  async removeSkill(skillId: string, tx: Tx): Promise<number[]> {
    await tx.query('DELETE FROM mcp.tool_skill_assignments WHERE skill_id = $1', [skillId]);
    return this.tools.removeSkill(skillId, tx);
  }
}

/** Primary skill first, then by confidence. */
function orderedSkills([primary, ...others]: readonly Assignment[]): string[] {
  if (!primary) return [];
  const rest = others.toSorted(
    (a, b) => b.confidence - a.confidence || (a.skillId < b.skillId ? -1 : 1),
  );
  return [primary, ...rest].map(({ skillId }) => skillId);
}
