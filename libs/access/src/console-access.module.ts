import { Module } from '@nestjs/common';
import { BrowserSessionsController } from './browser-sessions/browser-sessions.controller.js';

/** Logins of browsers; left out with MCP_AGGREGATOR_CONSOLE=false. */
@Module({ controllers: [BrowserSessionsController] })
export class ConsoleAccessModule {}
