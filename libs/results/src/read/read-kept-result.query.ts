import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Clock } from '@app/platform';
import { type KeptPage, KeptResultStore } from '../keep/kept-result.store.js';

/** One page of a kept result. Undefined alike if there is none, it has expired, or it is of another person. */
export class ReadKeptResult extends Query<KeptPage | undefined> {
  constructor(
    /** A UUID. */
    readonly id: string,
    readonly page: number,
    /** The subject of the person who asks. */
    readonly owner: string,
  ) {
    super();
  }
}

@QueryHandler(ReadKeptResult)
export class ReadKeptResultHandler implements IQueryHandler<ReadKeptResult> {
  constructor(
    private readonly store: KeptResultStore,
    private readonly clock: Clock,
  ) {}

  execute({ id, page, owner }: ReadKeptResult): Promise<KeptPage | undefined> {
    return this.store.page(id, owner, page, this.clock.now());
  }
}
