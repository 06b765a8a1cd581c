import { count, plural } from '../ui/format.js';

const number = (servers: number): string => plural(servers, 'server');
const tools = (n: number): string => plural(n, 'tool');

const form = {
  transport: 'Transport',
  transports: { STDIO: 'Program', HTTP: 'Streamable HTTP', SSE: 'SSE' },
  name: 'Name',
  nameHint: 'Lower-case letters, digits, - and _. It stands before the names of the tools.',
  renameHint: 'A new name also renames the tools.',
  command: 'Command',
  commandHint: 'A program in the PATH of the service, or its whole path.',
  args: 'Arguments',
  argsAside: 'one per line',
  cwd: 'Working directory',
  cwdHint: 'Empty: a folder of its own.',
  url: 'Address',
  urlHint: '${VAR} stands for a variable of the service, here and in every value below.',
  urlExample: { HTTP: 'https://mcp.example.com/mcp', SSE: 'https://mcp.example.com/sse' },
  value: 'Value or ${VAR}',
  env: {
    label: 'Variables',
    name: 'Name of the variable',
    example: 'NAME',
    value: (of: string) => `Value of ${of || 'the variable'}`,
    add: 'Add a variable',
  },
  headers: {
    label: 'Headers',
    name: 'Name of the header',
    example: 'X-Api-Key',
    value: (of: string) => `Value of ${of || 'the header'}`,
    add: 'Add a header',
  },
  oauth: {
    title: 'OAuth settings agreed beforehand',
    grant: 'Who logs in',
    none: 'Found out from the server',
    person: 'A person, with a client that is registered already',
    machine: 'The service itself (client credentials)',
    grantHints: {
      '': 'Most servers say themselves where to log in.',
      authorization_code: 'You are asked to log in after saving.',
      client_credentials: 'Needs the issuer and a secret or a private key.',
    },
    clientId: 'Client id',
    clientSecret: 'Client secret',
    privateKey: 'Private key',
    privateKeyHint: 'PKCS 8 in PEM, instead of a client secret.',
    algorithm: 'Algorithm of the key',
    scope: 'Scopes',
    scopeHint: 'Empty: every scope that the server names.',
    issuer: 'Issuer',
    issuerHint: 'The only authorization server that receives the credentials.',
  },
  more: 'Description, credentials, trust and health check',
  description: 'Description',
  credentials: 'Calls are made with',
  credentialModes: {
    shared: 'The credentials above, for everyone',
    per_user: 'Credentials of each person',
    exchange: 'A token for the login of each person',
  },
  credentialHints: {
    shared: 'Everyone acts as the same account.',
    per_user:
      'Each person logs in, or gives what stands as ${user.NAME} in headers or variables. A default, ${user.NAME:-…}, serves discovery and health alone.',
    exchange:
      'For callers with a JWT. Where tokens are exchanged is set with the command line or the API.',
  },
  trust: 'When definitions change',
  trusts: {
    '': 'As for every server',
    auto: 'Offer, unless something is suspicious',
    pinned: 'Wait for approval',
    review: 'Wait for approval, also when new',
    locked: 'Never offer a change',
  },
  trustHints: {
    '': 'MCP_AGGREGATOR_TRUST says it.',
    auto: 'A change with a finding waits for approval.',
    pinned: 'Every change of a tool waits for approval.',
    review: 'New tools wait for approval, and every change.',
    locked: 'What is not approved yet is withheld for good.',
  },
  healthUrl: 'Health check address',
  healthUrlHint: 'Empty: the server is asked by MCP itself.',
  autoConnect: 'Connect as soon as it is added',
  toFix: (fields: number) => `${plural(fields, 'field')} to fix before it can be saved.`,
} as const;

const trial = {
  test: 'Test',
  testing: 'Connecting, for up to 20 s. Nothing is saved.',
  works: (n: number, time: string) => `Works: ${tools(n)}, ${time}`,
  failed: 'Does not connect',
  needsLogin: 'Needs a login',
  loginAt: (issuer: string) => `After saving, a person logs in at ${issuer}.`,
  loginLater: 'After saving, a person logs in.',
  answer: (name: string, version: string, prompts: number, resources: number) =>
    [name, `MCP ${version}`, plural(prompts, 'prompt'), plural(resources, 'resource')]
      .filter(Boolean)
      .join(', '),
  tools: 'Its tools',
} as const;

const paste = {
  editor: 'mcpServers of a client, an address, or a command line',
  lead: 'Paste the mcpServers of a client, an address, or a command line. Nothing is saved before you say so.',
  example:
    '{\n  "mcpServers": {\n    "github": { "url": "https://api.githubcopilot.com/mcp/" }\n  }\n}',
  useExample: 'Fill in an example',
  noJson: (reason: string) => `This is no JSON yet: ${reason}`,
  noServers: 'There is no mcpServers in it, nor servers as VS Code writes them.',
  noObject: 'It is not an object.',
  noName: 'No name can be made of its key: it has no Latin letter.',
  noConnection: 'It has neither a command nor a url.',
  envFile: 'envFile is not supported; write its variables into env.',
  clientVariable: (variable: string) =>
    `${variable} is known to the client only; write the value, or a variable of the service.`,
  sameName: (key: string) => `Its name becomes the same as that of ${key}.`,
  plan: 'What will happen',
  kinds: { new: 'New', known: 'Known', changed: 'Changed', unusable: 'Unusable' },
  kindHints: {
    new: '',
    known: 'the same settings, left as it is',
    changed: 'replaces the settings of the registered one',
  },
  summary: (of: Readonly<Record<'new' | 'known' | 'changed' | 'unusable', number>>) =>
    [
      of.new > 0 && `${count(of.new)} new`,
      of.changed > 0 && `${count(of.changed)} changed`,
      of.known > 0 && `${count(of.known)} known`,
      of.unusable > 0 && `${count(of.unusable)} unusable`,
    ]
      .filter(Boolean)
      .join(', '),
  needs: (variables: readonly string[]) => `reads ${variables.join(', ')}`,
  variable: (name: string) => `Value of ${name}`,
  variableHint: 'Empty: the variable of the service.',
  testing: 'Testing',
  tested: (n: number, time: string) => `Tested, ${tools(n)}, ${time}`,
  saving: 'Saving',
  saved: 'Saved',
  testAll: (n: number) => (n === 1 ? 'Test' : `Test ${count(n)}`),
  save: (added: number, changed: number) =>
    changed === 0
      ? `Add ${number(added)}`
      : added === 0
        ? `Change ${number(changed)}`
        : `Add ${count(added)}, change ${count(changed)}`,
  done: (n: number) => `${number(n)} saved, connecting`,
  someRefused: (n: number) => `${number(n)} could not be saved; the reasons stand beside them.`,
} as const;

export const servers = {
  form,
  paste,
  trial,
  title: 'Servers',
  number,
  list: 'Servers, by what they need',
  filter: 'Filter servers',
  state: 'state',
  transport: 'transport',
  summary: (shown: number, total: number, offered: number, known: number) =>
    `${shown === total ? number(total) : `${count(shown)} of ${number(total)}`}, ${offered === known ? tools(known) : `${count(offered)} of ${tools(known)} offered`}`,
  ofKnown: (offered: number, known: number) => `${count(offered)} of ${count(known)}`,
  withheld: (n: number) => `${tools(n)} withheld`,
  couldLogIn: 'A person could log in for more',
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
  barStates: {
    ready: 'ready',
    slow: 'slow',
    failing: 'failing',
    login: 'needs login',
    off: 'off',
  },
  notThere: 'not registered yet',
  strip: (name: string, bars: readonly string[]) => `${name}, last 24 h: ${bars.join(', ')}`,
  barIs: 'one bar is 1 h',
  columns: {
    server: 'Server',
    state: 'State and last event',
    from: '24 h ago',
    to: 'now',
    tools: 'Tools',
    errors: 'Errors',
    p95: 'p95',
  },
  callsOfDay: (calls: number, errors: number) =>
    `${plural(calls, 'call')} in 24 h, ${count(errors)} failed`,
  noCalls: 'No calls in 24 h',
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
  addForm: 'Form',
  addPaste: 'Paste JSON',
  addOne: 'Add server',
  added: (name: string) => `${name} added, connecting`,
  mayOperateOnly: 'Adding and removing servers needs the admin scope.',
  mayLook: 'Your login may look only: connecting needs the operate scope, adding the admin scope.',
  actions: {
    connect: 'Connect',
    refresh: 'List tools again',
    reconnect: 'Reconnect',
    disconnect: 'Turn off',
    remove: 'Remove…',
  },
  edit: 'Edit settings',
  moreActions: 'More actions',
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
    reconnect: (what: string) => `${what}: connecting again`,
    refresh: (what: string) => `${what}: tools are listed again`,
    remove: (what: string, n: number) => `${what} removed with ${tools(n)}`,
  },
  notDone: {
    connect: (name: string) => `${name} was not connected`,
    disconnect: (name: string) => `${name} was not turned off`,
    reconnect: (name: string) => `${name} was not connected again`,
    refresh: (name: string) => `The tools of ${name} were not listed`,
    remove: (name: string) => `${name} was not removed`,
  },
} as const;
