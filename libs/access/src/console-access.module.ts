import { Module } from '@nestjs/common';
import { BrowserSessionsController } from './browser-sessions/browser-sessions.controller.js';
import { LoginLinksController } from './browser-sessions/login-links.controller.js';

/** Logins of browsers; left out with MCP_AGGREGATOR_CONSOLE=false. */
@Module({ controllers: [BrowserSessionsController, LoginLinksController] })
export class ConsoleAccessModule {}
