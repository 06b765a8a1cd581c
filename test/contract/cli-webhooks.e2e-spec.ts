import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { type CommandLine, commandLine, program } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

describe('on the command line', () => {
  let service: TestApp;
  let cli: CommandLine;
  let receiver: WebhookReceiver;
  let server: string;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    service = await startApp();
    cli = commandLine(service);
    server = await new Api(service).register({
      name: 'garden',
      transport_type: 'HTTP',
      connection_config: { base_url: 'http://127.0.0.1:9/mcp' },
      auto_connect: false,
    });
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  const change = (description: string) =>
    new Api(service).call('PATCH', `/servers/${server}`, { description });

  it('webhooks are made, changed, switched off and on, and removed', async () => {
    expect(await cli.run('webhooks')).toMatchObject({ stdout: 'There are no webhooks.\n' });
    const url = receiver.urlOf('/cli');
    const made = await cli.json('webhooks', 'create', url, '--topics', 'server', 'health');
    expect(made).toMatchObject({ url, topics: ['server', 'health'], servers: null, enabled: true });
    receiver.setSecret('/cli', String(made['secret']));
    await change('first');
    await eventually(() => expect(receiver.of('/cli')).toMatchObject([{ isSigned: true }]));
    const id = String(made['id']);
    expect(await cli.run('webhooks', 'disable', id)).toMatchObject({ code: 0 });
    expect(await cli.run('webhooks', 'list')).toMatchObject({
      stdout: expect.stringContaining('disabled'),
    });
    const edited = await cli.json('webhooks', 'edit', id, '--servers', 'garden');
    expect(edited).toMatchObject({ servers: ['garden'], enabled: false });
    expect(await cli.run('webhooks', 'enable', id)).toMatchObject({ code: 0 });
    expect(await cli.run('webhooks', 'edit', id)).toMatchObject({ code: 2 });
    expect(await cli.run('webhooks', 'remove', id)).toMatchObject({ code: 0 });
    expect((await cli.run('webhooks', 'show', id)).code).not.toBe(0);
  });

  it('events are followed as they happen', async () => {
    const child = spawn(
      process.execPath,
      [program, '--json', 'events', 'garden', '--follow', '--topics', 'server'],
      { env: { ...cli.env } },
    );
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    let n = 0;
    await eventually(async () => {
      await change(`change ${++n}`);
      expect(stdout).toContain('"change":"updated"');
    });
    child.kill();
    await once(child, 'close');
    const [line = ''] = stdout.split('\n');
    expect(JSON.parse(line)).toMatchObject({ topic: 'server', data: { server: 'garden' } });
  });

  it('events are not followed with a token that may not hear them', async () => {
    const weak = commandLine({ url: service.url, token: 'a-token-that-is-wrong' });
    expect(await weak.run('events', '--follow')).toMatchObject({ code: 4 });
    const audit = commandLine({ url: service.url, token: service.tokens.read });
    const refused = await audit.run('events', '--follow', '--topics', 'audit');
    expect(refused.stderr).toContain('admin for the topics audit and policy');
  });
});
