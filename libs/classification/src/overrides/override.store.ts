import { Injectable } from '@nestjs/common';
import { ToolNotFound, ToolStore } from '@app/catalogue';
import type { Tx } from '@app/platform';
import { AssignmentStore } from '../classify/assignment.store.js';
import type { Assignment } from '../skills/skill.js';

/** What readers of tools see; the name is for those who see the audit log. */
const HUMAN = 'human';

/**
 * Skills that a human gave a tool, which no classifier changes. Overrides and the results of classifiers lock the row
 * of the tool first, so that they never run at the same time.
 */
@Injectable()
export class OverrideStore {
  constructor(
    private readonly tools: ToolStore,
    private readonly assignments: AssignmentStore,
  ) {}

  /** Returns the server of the tool, if it has one. */
  async set(
    toolId: number,
    assignments: readonly Assignment[],
    actor: string,
    tx: Tx,
  ): Promise<string | null> {
    const [tool] = await this.tools.hold([toolId], tx);
    if (!tool) throw new ToolNotFound(String(toolId));
    await this.assignments.replace([{ toolId, assignments }], HUMAN, tx);
    await this.tools.markClassified([toolId], tx);
    await tx.query(
      `INSERT INTO mcp.tool_classifications
         (tool_id, state, content_hash, classified_by, is_override, due_at)
       VALUES ($1, 'CLASSIFIED', $2, $3, true, NULL)
       ON CONFLICT (tool_id) DO UPDATE
       SET state = excluded.state, content_hash = excluded.content_hash, is_override = true,
           unsure = '[]', classified_by = excluded.classified_by, due_at = NULL, attempts = 0, last_error = NULL,
           updated_at = now()`,
      [toolId, tool.contentHash, `${HUMAN}:${actor}`],
    );
    return tool.serverId;
  }

  async drop(toolId: number, tx: Tx): Promise<void> {
    const held = await this.tools.hold([toolId], tx);
    if (held.length === 0) throw new ToolNotFound(String(toolId));
    await tx.query(
      `UPDATE mcp.tool_classifications SET is_override = false, due_at = now(), updated_at = now()
       WHERE tool_id = $1`,
      [toolId],
    );
  }
}
