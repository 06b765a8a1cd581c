import type { ApprovalView, ServerView, ToolRowView } from '@app/api-client';
import type { State } from '../ui/state-mark.js';
import { texts } from '../texts/index.js';
import { stateOfServer } from './server-state.js';

/** A tool as lists show it; withheld ones are there as well. */
export interface ToolRow {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly server: string;
  /** The first line of the description. */
  readonly line: string;
  readonly skillIds: readonly string[];
  /** What its annotations say, with the defaults of MCP; empty for a withheld tool. */
  readonly effects: ToolRowView['annotations'];
  /** Estimated cost of its definition in a context. */
  readonly tokens: number | undefined;
  readonly state: State;
  /** Of a withheld tool. */
  readonly approval: ApprovalView | undefined;
  /** Text that the filter looks through. */
  readonly words: string;
}

/** `server`: of the tool, as far as servers are known. */
export function rowOfTool(tool: ToolRowView, server: ServerView | undefined): ToolRow {
  const { id, name, title, description, skill_ids: skillIds, annotations, tokens, status } = tool;
  return {
    id,
    name,
    title: title ?? '',
    server: tool.server,
    line: description,
    skillIds,
    effects: annotations,
    tokens,
    state: server ? stateOfServer(server) : status === 'ready' ? 'ready' : 'off',
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
    effects: [],
    tokens: undefined,
    state: 'withheld',
    approval,
    words: `${server}.${name} ${line}`.toLowerCase(),
  };
}
