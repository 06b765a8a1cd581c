import { plural } from '../ui/format.js';

export const connect = {
  title: 'Connect a client',
  notRead: 'The snippets could not be read',
  sees: {
    title: 'What the client sees',
    endpoint: 'Tools that are listed',
    endpoints: { all: 'All tools', search: 'Search tools' },
    hints: {
      all: 'Every tool of every connected server that the token may use.',
      search:
        'A few tools that find, describe and call the others: for many servers, because a list of hundreds of tools fills the context of a model.',
    },
    view: 'View',
    noView: 'What its token may use',
    viewHint: 'A view narrows the tools further. The token needs a grant of it.',
  },
  token: {
    title: 'Token',
    kind: 'Which token',
    kinds: { known: 'One that exists', new: 'A new one' },
    known:
      'The snippets say YOUR_TOKEN where it goes. Tokens are kept as hashes: none can be shown again.',
    mayNot: 'An admin makes tokens; ask for one with the call scope.',
    name: 'Name',
    nameHint: 'For the list of tokens and the audit log; one for each person and machine.',
    role: 'Role',
    roles: {
      caller: 'Lists and calls tools',
      viewer: 'Lists tools only',
    },
    expires: 'Expires',
    expiries: { '30': 'in 30 days', '90': 'in 90 days', '365': 'in a year', '': 'never' },
    onlyView: (view: string) => `It can use the view ${view} and nothing else`,
    make: 'Make the token',
    made: (name: string) => `The token ${name} is shown here and now, and never again.`,
    isIn: 'It is in the snippets below.',
    another: 'Make another',
  },
  client: {
    title: 'Client',
    label: 'Clients',
    where: 'Goes into',
    terminal: 'Run in',
    open: (client: string) => `Open in ${client}`,
    linkHint: {
      cursor:
        'The link holds no token: Cursor takes it from the variable SWITCHBOARD_TOKEN of its environment.',
      vscode: 'The link holds no token: VS Code asks for it once and keeps it.',
    },
    variable: 'The token as a variable, for the shell that starts it:',
    asks: 'VS Code asks for the token once and keeps it.',
    other: 'Another client',
    otherWhere: 'Any MCP client that speaks Streamable HTTP needs this address and this header:',
  },
  seen: {
    title: 'See it connected',
    none: 'No client is connected yet; it appears here with its first request.',
    latest: 'Seen last:',
    all: 'All sessions',
    calls: (n: number) => plural(n, 'call'),
  },
} as const;
