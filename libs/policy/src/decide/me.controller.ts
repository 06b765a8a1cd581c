import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, hasScope, type Principal, RequireScope } from '@app/access';
import { ApiErrors, roleOf, tokenScopes } from '@app/platform';
import { Policy } from '../policy.js';
import { FollowsPolicy } from './follows-policy.js';
import { MeView } from './policy.dto.js';
import { Permissions } from './permissions.js';

@ApiTags('tokens')
@ApiBearerAuth()
@Controller('api/v1/aggregator/me')
@RequireScope('read')
@FollowsPolicy()
export class MeController {
  constructor(
    private readonly policy: Policy,
    private readonly permissions: Permissions,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Who the caller is, and what its token may do' })
  @ApiOkResponse({ type: MeView })
  @ApiErrors()
  getMe(@CurrentPrincipal() principal: Principal): MeView {
    const { name, scopes, subjects, pinned } = principal;
    return {
      name,
      role: roleOf(scopes) ?? null,
      scopes: tokenScopes.filter((scope) => hasScope(principal, scope)),
      subjects: [...subjects],
      view: pinned
        ? {
            slug: this.policy.current.viewsById.get(pinned.viewId)?.slug ?? null,
            level: pinned.level,
          }
        : null,
      sees_all: this.permissions.seesAll(principal),
    };
  }
}
