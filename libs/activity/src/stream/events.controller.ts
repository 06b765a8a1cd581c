import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { CallerMay, Challenges, CurrentPrincipal, type Principal, RequireScope } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ApiErrors, InvalidInput } from '@app/platform';
import { ServerNotFound } from '@app/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ActivityTopic, activityTopics, adminTopics } from '../feed/activity-event.js';
import { EventCursor } from './event-cursor.js';
import { EventStreams } from './event-streams.js';
import { activityEventSchema, eventDataModels, StreamEventsParams } from './events.dto.js';

@ApiTags('activity')
@ApiBearerAuth()
@Controller('api/v1/events')
export class EventsController {
  constructor(
    private readonly streams: EventStreams,
    private readonly catalogue: Catalogue,
    private readonly challenges: Challenges,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({
    summary: 'What happens, as server-sent events: each has an envelope as JSON in its data',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The id of the last event that was read: the stream continues after it.',
  })
  @ApiExtraModels(...eventDataModels)
  @ApiOkResponse({ content: { 'text/event-stream': { schema: activityEventSchema } } })
  @ApiErrors(404, 422, 503)
  streamEvents(
    @Query() { topics, server }: StreamEventsParams,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentPrincipal() principal: Principal,
    @CallerMay('admin') isAdmin: boolean,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    if (topics?.some((topic) => adminTopics.has(topic)) && !isAdmin)
      throw this.challenges.scopeMissing(request, 'admin');
    const filter = {
      topics: new Set(topics ?? topicsFor(isAdmin)),
      serverIds: server && new Set(server.map((name) => this.idOf(name))),
      isAdmin,
    };
    const cursor = cursorIn(lastEventId);
    // Fastify adds HEAD to each GET; its answer has no body, so that no event would ever begin it.
    if (request.method === 'HEAD') return void reply.type('text/event-stream').send();
    this.streams.begin({ request, reply, principal, filter, cursor });
  }

  private idOf(nameOrId: string): string {
    const { servers, serversByName } = this.catalogue.current;
    const found = serversByName.get(nameOrId) ?? servers.get(nameOrId);
    if (!found) throw new ServerNotFound(nameOrId);
    return found.id;
  }
}

function topicsFor(isAdmin: boolean): readonly ActivityTopic[] {
  return isAdmin ? activityTopics : activityTopics.filter((topic) => !adminTopics.has(topic));
}

function cursorIn(lastEventId: string | undefined): EventCursor {
  if (lastEventId === undefined || lastEventId === '') return new EventCursor();
  const cursor = EventCursor.read(lastEventId);
  if (cursor) return cursor;
  const msg = 'Input should be the id of an event of this stream';
  throw new InvalidInput([{ loc: ['header', 'last-event-id'], msg, type: 'value_error' }]);
}
