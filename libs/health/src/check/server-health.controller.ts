import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CallerMay, RequireScope } from '@app/access';
import { ApiErrors, Clock } from '@app/platform';
import { AuthorizationStore, GetServer, ServerIdPipe, toAuthorizationView } from '@app/registry';
import { ServerHealthView, toServerHealthView } from './server-health.dto.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/health')
export class ServerHealthController {
  constructor(
    private readonly queries: QueryBus,
    private readonly authorizations: AuthorizationStore,
    private readonly clock: Clock,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Result of the last health check of a server' })
  @ApiOkResponse({ type: ServerHealthView })
  @ApiErrors(404)
  async getServerHealth(
    @Param('id', ServerIdPipe) id: string,
    @CallerMay('admin') mayConsent: boolean,
  ): Promise<ServerHealthView> {
    const [server, authorization] = await Promise.all([
      this.queries.execute(new GetServer(id)),
      this.authorizations.load(id),
    ]);
    const now = this.clock.now();
    return toServerHealthView(server, toAuthorizationView(authorization, { now, mayConsent }));
  }
}
