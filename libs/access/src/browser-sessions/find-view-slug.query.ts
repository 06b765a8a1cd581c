import { Query } from '@nestjs/cqrs';

/** The name of a view, by its id; libs/policy answers. Undefined if there is none. */
export class FindViewSlug extends Query<{ readonly slug: string | undefined }> {
  constructor(readonly viewId: string) {
    super();
  }
}
