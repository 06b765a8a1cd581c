import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { FindViewSlug } from '@app/access';
import { Policy } from '../policy.js';

@QueryHandler(FindViewSlug)
export class FindViewSlugHandler implements IQueryHandler<FindViewSlug> {
  constructor(private readonly policy: Policy) {}

  async execute({ viewId }: FindViewSlug): Promise<{ readonly slug: string | undefined }> {
    return { slug: this.policy.current.viewsById.get(viewId)?.slug };
  }
}
