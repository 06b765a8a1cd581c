import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { parseEnv } from '@app/platform';
import { writeFileSync } from 'node:fs';
import { describeApi } from './http/api-docs.js';
import { AppModule } from './app.module.js';

// `npm run api-client`: writes the OpenAPI document to the file named by the first argument. Nest's preview mode
// creates no providers, so neither a database nor a data folder is needed.
const [, , file = 'openapi.json'] = process.argv;
const app = await NestFactory.create(AppModule.forRoot(parseEnv({})), new FastifyAdapter(), {
  preview: true,
  logger: ['error'],
});
writeFileSync(file, `${JSON.stringify(describeApi(app), null, 2)}\n`);
