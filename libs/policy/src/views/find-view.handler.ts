import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { FindView } from '@app/access';
import { Policy } from '../policy.js';

@QueryHandler(FindView)
export class FindViewHandler implements IQueryHandler<FindView> {
  constructor(private readonly policy: Policy) {}

  async execute({ slug }: FindView): Promise<{ readonly viewId: string }> {
    return { viewId: this.policy.current.viewNamed(slug).id };
  }
}
