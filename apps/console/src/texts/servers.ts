import { count, plural } from '../ui/format.js';

const number = (servers: number): string => plural(servers, 'server');
const tools = (n: number): string => plural(n, 'tool');

export const servers = {
  title: 'Servers',
  number,
  list: 'Servers, by what they need',
  filter: 'Filter servers',
  state: 'state',
  transport: 'transport',
  summary: (shown: number, total: number, offered: number) =>
    `${shown === total ? number(total) : `${count(shown)} of ${number(total)}`}, ${tools(offered)}`,
  needs: {
    person: 'Need a person',
    wait: 'Connecting',
    nothing: 'Ready',
    off: 'Off',
  },
  transports: { STDIO: 'stdio', SSE: 'sse', HTTP: 'http' },
  states: {
    failing: 'Failing',
    slow: 'Slow',
    login: 'Needs login',
    connecting: 'Connecting',
    ready: 'Ready',
    off: 'Off',
  },
  columns: {
    server: 'Server',
    state: 'State and last event',
    from: '24 h ago',
    to: 'now',
    tools: 'Tools',
  },
  checked: 'Checked',
  notChecked: 'Connected',
  offByRequest: 'Turned off by request',
  warnings: (n: number) => plural(n, 'warning'),
  connecting: 'Waits for the answer',
  none: 'No servers yet',
  noneHint:
    'Paste the mcpServers of a client that you use, or fill in a form. Nothing starts before you say so.',
  noneRight: 'An admin adds servers; your login may look only.',
  noMatch: 'No server fits these filters',
  clearFilters: 'Clear the filters',
  notRead: 'Servers could not be read',
  add: 'Add servers',
  mayLook: 'Your login may look only: connecting needs the operate scope, adding the admin scope.',
  connect: 'Connect',
  connectAll: 'Connect all that are not',
  refresh: 'List tools again',
  disconnect: 'Turn off',
  remove: 'Remove…',
  undo: 'Undo',
  removeTitle: (what: string) => `Remove ${what}?`,
  removeConfirm: (n: number) => (n === 1 ? 'Remove the server' : `Remove ${number(n)}`),
  removeWord: (n: number) => `remove ${n}`,
  removeEffect: (n: number) =>
    `${n === 0 ? 'Running calls' : `${tools(n)} leave the catalogue and every view; running calls`} end. Settings, secrets, approvals and history are deleted. The audit log stays.`,
  andMore: (n: number) => `and ${count(n)} more`,
  done: {
    connect: (what: string) => `${what}: connecting`,
    disconnect: (what: string, n: number) => `${what} turned off, ${tools(n)} withdrawn`,
    refresh: (what: string) => `${what}: tools are listed again`,
    remove: (what: string, n: number) => `${what} removed with ${tools(n)}`,
  },
  notDone: {
    connect: (name: string) => `${name} was not connected`,
    disconnect: (name: string) => `${name} was not turned off`,
    refresh: (name: string) => `The tools of ${name} were not listed`,
    remove: (name: string) => `${name} was not removed`,
  },
} as const;
