import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, AuditStore, CallerMay, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, AppError, PageQuery } from '@app/platform';
import { type ClientSession, ClientSessions } from './client-sessions.js';
import { ClientSessionListView } from './client-sessions.dto.js';

@ApiTags('activity')
@ApiBearerAuth()
@Controller('api/v1/aggregator/sessions')
@RequireScope('read')
export class ClientSessionsController {
  constructor(
    private readonly sessions: ClientSessions,
    private readonly audit: AuditStore,
  ) {}

  @Get()
  @ApiOperation({ summary: 'MCP clients that are connected, at every replica' })
  @ApiOkResponse({ type: ClientSessionListView })
  @ApiErrors(422)
  async listClientSessions(
    @Query() { limit, offset }: PageQuery,
    @CallerMay('admin') isAdmin: boolean,
  ): Promise<ClientSessionListView> {
    const { sessions, missing } = await this.sessions.list();
    const shown = sessions.slice(offset, offset + limit);
    return {
      sessions: isAdmin ? shown : shown.map(withoutCaller),
      total: sessions.length,
      limit,
      offset,
      replicas_missing: missing,
    };
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('operate')
  @ApiOperation({
    summary:
      'End the session of a client, which may begin another one; its requests are interrupted',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async endClientSession(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    if (!(await this.sessions.end(id))) throw new NoSuchClientSession(id);
    await this.audit.record({ event: 'session.ended', actor, details: { session_id: id } });
  }
}

function withoutCaller(session: ClientSession): ClientSession {
  return { ...session, caller: null };
}

class NoSuchClientSession extends AppError {
  constructor(id: string) {
    super(`No client session has the id ${id.slice(0, 100)}; it may have ended already`, {
      kind: 'not-found',
      code: 'SESSION_NOT_FOUND',
    });
  }
}
