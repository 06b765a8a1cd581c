#!/usr/bin/env node
import { version } from './start/node-floor.js';
import { CommanderError } from '@commander-js/extra-typings';
import { CliError, exitCodes } from './cli/exit-codes.js';
import { buildProgram } from './cli/program.js';
import { screenOf } from './cli/screen.js';
import { type Output, textOf } from './cli/session.js';

// A reader that has enough, such as `head`, closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const program = buildProgram({ version, env: process.env, output });
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = end(error);
}

function output(isJson: boolean): Output {
  const screen = screenOf(process.stdout, process.env);
  return {
    isJson,
    screen,
    add: (part) => {
      const { json, jsonText }: { json: unknown; jsonText?: string } = part;
      process.stdout.write(
        `${isJson ? (jsonText ?? JSON.stringify(json)) : textOf(part, screen)}\n`,
      );
    },
  };
}

function end(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (!(error instanceof CliError)) throw error;
  const isJson = process.argv.includes('--json');
  const text = isJson ? JSON.stringify({ error: error.message, code: error.code }) : error.message;
  process.stderr.write(`${text}\n`);
  return error.exitCode;
}
