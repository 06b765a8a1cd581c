import type { FindingView } from '@app/api-client';
import { plural } from '../ui/format.js';

export const approvals = {
  title: 'Approvals',
  name: 'Approvals',
  waiting: 'Waiting',
  kept: 'Kept withheld',
  keys: 'J K to move',
  findings: (count: number) => plural(count, 'finding'),
  noFinding: 'no finding',
  emptyTitle: 'Nothing waits for you',
  empty:
    'Definitions that change are withheld here until a person approves them, on servers whose trust is pinned or review. Set it on the page of a server.',
  toServers: 'Servers',
  choose: 'Choose a definition from the list.',
  back: 'All definitions',
  gone: 'This definition no longer waits. It was decided on, went back by itself, or its server was removed.',
  withheldSince: 'Withheld',
  rejectedBy: (who: string) => `Kept withheld by ${who}`,
  effect: (kind: 'tool' | 'prompt' | 'instructions') =>
    kind === 'tool'
      ? 'No client sees it, and calls are refused, until you decide.'
      : 'No client sees it until you decide.',
  isNew: 'New: nothing of this name was approved before.',
  renamedFrom: (name: string) => `Formerly ${name}, with nearly the same text.`,
  diffLook: 'How differences are shown',
  words: 'Words',
  sides: 'Side by side',
  json: 'JSON',
  wordsChanged: (added: number, removed: number) =>
    `${plural(added, 'word')} added, ${removed} removed`,
  membersChanged: (count: number) => plural(count, 'place') + ' changed',
  before: 'Approved',
  after: 'Listed now',
  same: 'same',
  wholeDefinition: 'Definition',
  removedText: 'was removed',
  others: (server: string) => `More from ${server}`,
  othersAside: (count: number, withFindings: number) =>
    `${count} more, ${withFindings === 0 ? 'no finding' : `${withFindings} with findings`}`,
  reviewNext: 'Review next',
  review: 'Review',
  bound: 'Bound to this text',
  approve: 'Approve',
  approveDespite: 'Approve despite findings …',
  keep: 'Keep withheld',
  approveAll: (count: number) => `Approve all ${count} …`,
  approveAllTitle: (count: number, server: string) =>
    `Approve ${plural(count, 'definition')} of ${server}?`,
  approveAllEffect:
    'Clients see and call them as they are listed now. If one changes before that, nothing is approved.',
  approveAllFindings: (count: number) =>
    `${plural(count, 'definition')} of them ${count === 1 ? 'has' : 'have'} findings.`,
  confirmTitle: (name: string) => `Approve ${name} with its findings?`,
  confirmEffect: 'Clients see this text and may follow it. Their models read it as an instruction.',
  approved: (name: string) => `${name} is offered`,
  approvedAll: (count: number, server: string) =>
    `${plural(count, 'definition')} of ${server} offered`,
  rejected: (name: string) => `${name} stays withheld until it changes again`,
  checks: 'Checks',
  none: 'none',
  around: 'Around this change',
  serverEvent: (server: string, event: string) =>
    `${server}: ${event.toLowerCase().replaceAll('_', ' ')}`,
  changed: 'The definition changed',
  noScope: 'Deciding needs the operate scope.',
  hiddenRemoved:
    'The server sent invisible characters. They were taken out of what is shown here and of what clients get.',
  finding: {
    hidden_instructions: 'Instruction to the model',
    hidden_characters: 'Invisible characters',
    look_alike: 'Looks like another tool',
    other_tool: 'Speaks of another tool',
    sensitive_data: 'Names secrets or private files',
    data_flow: 'Sends data elsewhere',
    more_destructive: 'May destroy more than before',
    new_required_argument: 'New required argument',
    encoded_text: 'Encoded text',
  } satisfies Readonly<Record<FindingView['code'], string>>,
} as const;
