import { Argument, Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { approvalsGroup } from './approvals.js';
import { auditCommand } from './audit.js';
import { clientsCommand } from './clients.js';
import { completeCommand, completionCommand } from './completion/completion.commands.js';
import { eventsCommand } from './events.js';
import { connectionsGroup } from './connections.group.js';
import { EXIT_CODES_HELP } from './exit-codes.js';
import { healthCommand, statusCommand } from './health.js';
import { localCommands } from './local/local.commands.js';
import { locateLocalService, locateService, type Service } from './locate-service.js';
import { oauthGroup } from './oauth.group.js';
import { grantsGroup } from './policy/grants.group.js';
import { overridesGroup } from './policy/overrides.group.js';
import { accessGroup, policyGroup } from './policy/policy.group.js';
import { viewsGroup } from './policy/views.group.js';
import { RestClient } from './rest-client.js';
import { queryCommand, searchCommand } from './search.js';
import {
  addCommand,
  authorizeCommand,
  importCommand,
  serversGroup,
} from './servers/servers.group.js';
import { loginCommand } from './login.js';
import type { Output, Perform } from './session.js';
import { skillsGroup } from './skills.js';
import { peopleGroup } from './people.group.js';
import { tokensGroup } from './token-commands.js';
import { callCommand, toolsGroup } from './tools/tools.group.js';
import { usageProblem } from './usage.js';
import { webhooksGroup } from './webhooks.group.js';

export interface Surroundings {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: (isJson: boolean) => Output;
}

/** The whole command line. What cannot be done is thrown as a `CliError`; `onExit` ends help and version. */
export function buildProgram({ version, env, output }: Surroundings) {
  const program = new Command('switchboard')
    .description('one endpoint for many MCP servers')
    .version(version, '-V, --version', 'print the version of this program')
    .option('--url <url>', 'URL of the service (default: SWITCHBOARD_URL, then the data folder)')
    .option(
      '--token <token>',
      'token of the service (default: SWITCHBOARD_TOKEN, then the data folder)',
    )
    .option('--json', 'print the JSON answers of the REST API')
    .addHelpText('afterAll', EXIT_CODES_HELP);
  const locate = (): Service => locateService(program.opts(), env);
  const clientOf = (url: string): RestClient =>
    new RestClient(locateLocalService(url, program.opts().token, env));
  const perform: Perform = async (action) => {
    const isJson = program.opts().json ?? false;
    const shown = output(isJson);
    const outcome = await action(new RestClient(locate()), shown);
    if (!outcome) return;
    shown.add(outcome);
    process.exitCode = outcome.exitCode;
  };
  for (const command of commandsOf(perform, env)) program.addCommand(command);
  for (const command of localCommands(perform, clientOf)) program.addCommand(command);
  program.addCommand(stdioCommand(locate));
  program.addCommand(completionCommand());
  program.addCommand(
    completeCommand(() => program, locate),
    { hidden: true },
  );
  for (const command of withInner(program)) prepare(command);
  return program;
}

function commandsOf(perform: Perform, env: Surroundings['env']): CommandUnknownOpts[] {
  return [
    serversGroup(perform),
    toolsGroup(perform),
    approvalsGroup(perform),
    searchCommand(perform),
    queryCommand(perform),
    skillsGroup(perform),
    tokensGroup(perform),
    peopleGroup(perform),
    oauthGroup(perform),
    connectionsGroup(perform, env),
    viewsGroup(perform),
    grantsGroup(perform),
    overridesGroup(perform),
    accessGroup(perform),
    policyGroup(perform),
    loginCommand(perform, env),
    clientsCommand(perform),
    authorizeCommand(perform),
    healthCommand(perform),
    statusCommand(perform),
    eventsCommand(perform),
    auditCommand(perform),
    webhooksGroup(perform),
    addCommand('add', perform).summary('short for servers add'),
    importCommand(perform).summary('short for servers import'),
    callCommand(perform).summary('short for tools call'),
  ];
}

function stdioCommand(locate: () => Service) {
  return new Command('stdio')
    .description('run an MCP server on standard input and output, for clients without HTTP')
    .addArgument(new Argument('[server]', 'all, search, or the name of one server').default('all'))
    .option('--view <name>', 'only what this view offers')
    .action(async (name, { view }) => {
      // Imported on demand: the other commands start faster without these modules.
      const { serveStdio } = await import('./stdio.js');
      await serveStdio(locate(), { name, view });
    });
}

function withInner(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap((inner) => withInner(inner))];
}

/** Refusals are thrown as sentences, and help shows the options of every command. */
function prepare(command: CommandUnknownOpts): void {
  command
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => undefined })
    .exitOverride((error) => {
      throw /^commander\.(help|helpDisplayed|version)$/.test(error.code)
        ? error
        : usageProblem(error, command);
    });
}
