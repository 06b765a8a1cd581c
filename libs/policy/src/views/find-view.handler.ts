import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { FindView } from '@app/access';
import { Policy } from '../policy.js';
import { ViewNotFound } from '../policy.errors.js';

@QueryHandler(FindView)
export class FindViewHandler implements IQueryHandler<FindView> {
  constructor(private readonly policy: Policy) {}

  async execute({ slug }: FindView): Promise<{ readonly viewId: string }> {
    const view = this.policy.current.viewsBySlug.get(slug);
    if (!view) throw new ViewNotFound(slug);
    return { viewId: view.id };
  }
}
