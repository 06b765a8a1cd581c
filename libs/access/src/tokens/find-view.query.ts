import { Query } from '@nestjs/cqrs';

/** As in libs/policy, which compares them. */
export const viewLevels = ['read', 'call_read_only', 'call'] as const;
export type ViewLevel = (typeof viewLevels)[number];

/** The id of a view, by its name; libs/policy answers. Rejects if there is none. */
export class FindView extends Query<{ readonly viewId: string }> {
  constructor(readonly slug: string) {
    super();
  }
}
