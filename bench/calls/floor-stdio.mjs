// node floor-stdio.mjs <port>: NestJS on Fastify with one command, forwarding lines to a child process.
import 'reflect-metadata';
import { Body, Controller, Module, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CommandBus, CommandHandler, CqrsModule } from '@nestjs/cqrs';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { spawn } from 'node:child_process';
import { callBody, passThrough } from './pass-through.mjs';
import { stdioUpstream } from './processes.mjs';
import { echoTools } from './upstream-tools.mjs';

const child = spawn(stdioUpstream.command, stdioUpstream.args, {
  stdio: ['pipe', 'pipe', 'inherit'],
});
process.once('SIGTERM', () => {
  child.kill();
  process.exit(0);
});
const pending = new Map();
let unread = '';
child.stdout.setEncoding('utf8');
child.stdout.on('data', (text) => {
  const lines = (unread + text).split('\n');
  unread = lines.pop();
  for (const line of lines) {
    const id = Number(/^\{"jsonrpc":"2\.0","id":(\d+),/.exec(line)[1]);
    const done = pending.get(id);
    pending.delete(id);
    done(undefined, Buffer.from(line), id);
  }
});
let unsent = '';
function send(line) {
  if (!unsent) {
    queueMicrotask(() => {
      const lines = unsent;
      unsent = '';
      child.stdin.write(lines);
    });
  }
  unsent += `${line}\n`;
}
let nextId = 1;
const ask = (name, input, done) => {
  const id = nextId++;
  pending.set(id, done);
  send(callBody(id, name, input));
};

class CallTool {
  constructor(name, input) {
    this.name = name;
    this.input = input;
  }
}
class CallToolHandler {
  execute({ name, input }) {
    return new Promise((resolve, reject) => {
      ask(name, input, (error, answer, id) => (error ? reject(error) : resolve({ answer, id })));
    });
  }
}
CommandHandler(CallTool)(CallToolHandler);

class McpController {
  constructor(commands) {
    this.gateway = passThrough(echoTools(10), async (name, input, done) => {
      const { answer, id } = await commands.execute(new CallTool(name, input));
      done(undefined, answer, id);
    });
  }

  post(message, response) {
    this.gateway.mcp(message, (status, headers = {}, body = '') => {
      response.code(status).headers(headers).send(body);
    });
  }
}
// Decorators applied as functions: this file is not compiled.
Reflect.defineMetadata('design:paramtypes', [CommandBus], McpController);
Controller('mcp')(McpController);
Body()(McpController.prototype, 'post', 0);
Res()(McpController.prototype, 'post', 1);
Post()(
  McpController.prototype,
  'post',
  Object.getOwnPropertyDescriptor(McpController.prototype, 'post'),
);

class FloorModule {}
Module({
  imports: [CqrsModule.forRoot()],
  controllers: [McpController],
  providers: [CallToolHandler],
})(FloorModule);

const app = await NestFactory.create(
  FloorModule,
  new FastifyAdapter({ keepAliveTimeout: 600_000 }),
  { logger: false },
);
await app.listen(Number(process.argv[2]), '127.0.0.1');
