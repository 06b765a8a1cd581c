import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { PEOPLE_CHANGED } from '../reconcile/session-news.js';
import { EndPersonSessionsJob } from './end-person-sessions.job.js';

/** People have connected or disconnected at another replica, while their processes run at this one. */
@Injectable()
export class ComparePersonSessionsOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private stopHearing: () => void = () => undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly job: EndPersonSessionsJob,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.replicas.hear(({ topic, ids }) => {
      if (topic === PEOPLE_CHANGED) void this.job.compareNow(ids);
    });
  }

  onModuleDestroy(): void {
    this.stopHearing();
  }
}
