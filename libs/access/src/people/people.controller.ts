import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { UuidPipe, ApiErrors, PageQuery } from '@app/platform';
import type { Actor } from '../authenticate/principal.js';
import { CurrentActor, RequireScope } from '../authorize/access.decorators.js';
import { EndPerson } from './end-person.command.js';
import { PersonListView, toPersonView } from './people.dto.js';
import { PersonStore } from './person.store.js';
import { PersonNotFound } from '../access.errors.js';

const PersonIdPipe = new UuidPipe((id) => new PersonNotFound(id));

@ApiTags('people')
@ApiBearerAuth()
@Controller('api/v1/aggregator/people')
@RequireScope('admin')
export class PeopleController {
  constructor(
    private readonly commands: CommandBus,
    private readonly store: PersonStore,
  ) {}

  @Get()
  @ApiOperation({ summary: 'People who logged in at an identity provider, the last login first' })
  @ApiOkResponse({ type: PersonListView })
  @ApiErrors(422)
  async listAccounts(@Query() { limit, offset }: PageQuery): Promise<PersonListView> {
    const { people, total } = await this.store.list({ limit, offset });
    return { people: people.map(toPersonView), total, limit, offset };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary:
      'End the account of a person: sessions and clients end; a login that the identity provider still allows makes another',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async endAccount(
    @Param('id', PersonIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new EndPerson(id, actor));
  }
}
