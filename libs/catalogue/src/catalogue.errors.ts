import { AppError } from '@app/platform';
import type { CatalogueTool } from './catalogue-snapshot.js';

/** `tool`: the name or id that was asked for. `reason`: only for a caller that may know of every tool. */
export class ToolNotFound extends AppError {
  constructor(tool: string, reason?: string) {
    const message = `Tool not found: ${tool.slice(0, 100)}`;
    super(reason === undefined ? message : `${message}. ${reason}`, {
      kind: 'not-found',
      code: 'TOOL_NOT_FOUND',
    });
  }
}

/**
 * The definition of the tool is not the approved one. Quotes nothing of it: the answer is read by models, and its text
 * may be the reason.
 */
export class ToolWithheld extends AppError {
  constructor({ id, name, serverId, serverName, withheld }: CatalogueTool) {
    const fields = withheld?.fields ?? [];
    const findings = withheld?.findings ?? [];
    const change = fields.length > 0 ? `changed in ${fields.join(', ')}` : 'is new';
    const found = findings.length > 0 ? ` (found: ${findings.join(', ')})` : '';
    super(
      `The tool ${name} is withheld: its definition ${change}${found} and was not approved since. An operator of this service can look at it under /api/v1/aggregator/approvals?server_id=${serverId} and approve it`,
      {
        kind: 'forbidden',
        code: 'QUARANTINED',
        context: {
          tool: name,
          tool_id: String(id),
          server_id: serverId,
          server_name: serverName,
          changed: [...fields],
          findings: [...findings],
          expected_hash: withheld?.hash ?? null,
          outcome: 'not executed',
        },
      },
    );
  }
}
