import type { ApprovalView, ToolView } from '@app/api-client';
import type { State } from '../ui/state-mark.js';
import { texts } from '../texts/index.js';
import { stateOfTool } from './tool-state.js';

/** A tool as lists show it; withheld ones are there as well. */
export interface ToolRow {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly server: string;
  /** The first line of the description. */
  readonly line: string;
  readonly skillIds: readonly string[];
  readonly state: State;
  /** Of a withheld tool. */
  readonly approval: ApprovalView | undefined;
  /** Text that the filter looks through. */
  readonly words: string;
}

export function rowOfTool(tool: ToolView): ToolRow {
  const { id, name, title, description, skill_ids: skillIds, source_server: server } = tool;
  const line = description.trimStart().split('\n')[0] ?? '';
  return {
    id,
    name,
    title: title ?? '',
    server: server?.name ?? '',
    line,
    skillIds,
    state: stateOfTool(tool),
    approval: undefined,
    words: `${name} ${title ?? ''} ${description}`.toLowerCase(),
  };
}

export function rowOfApproval(approval: ApprovalView): ToolRow {
  const { id, name, server_name: server, fields, is_new: isNew } = approval;
  const line = texts.tools.withheldText(fields, isNew);
  return {
    // Ids of approvals and of tools are numbers of their own.
    id: `approval-${id}`,
    name: `${server}.${name}`,
    title: '',
    server,
    line,
    skillIds: [],
    state: 'withheld',
    approval,
    words: `${server}.${name} ${line}`.toLowerCase(),
  };
}
