import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { commandLine, program } from '../support/command-line.js';
import { temporaryFolder } from '../support/env.js';
import { fixture, stdioPeer } from '../support/peers.js';
import { startProcess } from '../support/service-process.js';

/** From the client to the server and back, with every program run by this Node; `npm run node24` runs it on Node 24. */
describe('switchboard stdio and the built service', () => {
  it('pass on line ends of Unicode within messages, in both directions', async () => {
    const folder = await temporaryFolder();
    const service = await startProcess(folder.path);
    const client = new LegacySdk({ name: 'client', version: '1' });
    try {
      const cli = commandLine(service);
      const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);
      await cli.json('servers', 'add', 'peer', '--', command, ...args);
      await cli.json('servers', 'connect', 'peer', '--wait', '60');
      const bridge = { command: process.execPath, args: [program, 'stdio', 'peer'] };
      await client.connect(new LegacyStdio({ ...bridge, env: { ...cli.env } }));
      const text = 'a\u2028b\u2029c\u0085d\r\n\u000Be';
      const calls = Array.from({ length: 20 }, (_, i) =>
        client.callTool({ name: 'echo', arguments: { text: `${i} ${text}` } }),
      );
      const answers = await Promise.all(calls);
      expect(answers.map(({ content }) => content)).toEqual(
        answers.map((_, i) => [{ type: 'text', text: `${i} ${text}` }]),
      );
    } finally {
      await client.close();
      service.child.kill();
      await service.exited;
      await folder.remove();
    }
  });
});
